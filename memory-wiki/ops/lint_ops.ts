/** Operations of the lint (findings, pairs for a model, patches) and of the export. @module */
import * as z from "zod";
import { cleared, Label } from "../../contracts/authority/mod.ts";
import { type Finding, LINT_RULES } from "../../contracts/memory/mod.ts";
import { exportSite, reportOf } from "../export/mod.ts";
import { fixFindings, lintWiki, makeJudgedPairs } from "../lint/mod.ts";
import { type Op, type OpenWiki, reading, writing } from "./op.ts";

const Model = z.string().min(1).max(200);

async function findingsOf(
  { store, powers, problems }: OpenWiki,
  clearance: Label,
  rules?: readonly Finding["rule"][],
): Promise<readonly Finding[]> {
  return await lintWiki(store, {
    ...{ clearance, now: powers.now(), problems: problems() },
    ...(rules === undefined ? {} : { rules }),
  });
}

/** See the table in contracts/wire/wire_wiki.ts. */
export const LINT_OPS: Readonly<Record<string, Op>> = {
  lint: reading({
    body: z.object({
      clearance: Label,
      rules: z.array(z.enum(LINT_RULES)).max(LINT_RULES.length).optional(),
    }).strict(),
    run: async (wiki, { clearance, rules }) => {
      const findings = await findingsOf(wiki, clearance, rules);
      if (!wiki.readOnly && cleared("secret", clearance)) {
        const errors = findings.filter(({ severity }) => severity === "error").length;
        const text = `${errors} errors, ${findings.length - errors} warnings`;
        wiki.store.log.append({ kind: "lint", by: "operator", text });
      }
      return findings;
    },
  }),

  lintPairs: reading({
    body: z.object({ clearance: Label, model: Model }).strict(),
    run: ({ store }, { clearance, model }) => makeJudgedPairs(store, model).list(clearance),
  }),

  lintJudged: writing({
    body: z.object({
      model: Model,
      verdicts: z.array(
        z.object({ id: z.string().regex(/^[0-9a-f]{24}$/), why: z.string().max(500) }).strict(),
      ).max(100),
    }).strict(),
    run: ({ store }, { model, verdicts }) => {
      makeJudgedPairs(store, model).keep(verdicts);
      return null;
    },
  }),

  lintFix: writing({
    body: z.object({ by: z.string().min(1).max(128) }).strict(),
    run: async (wiki, { by }) => {
      const findings = await findingsOf(wiki, "secret");
      return fixFindings(wiki.store, findings)
        .map((fix) => wiki.store.patches.propose({ author: by, ...fix }));
    },
  }),
};

// Export as a static site.

/** See the table in contracts/wire/wire_wiki.ts. */
export const EXPORT_OPS: Readonly<Record<string, Op>> = {
  exportSite: reading({
    body: z.object({ clearance: Label, to: z.string().min(1).max(4_096) }).strict(),
    run: async ({ store, powers, readOnly }, { clearance, to }) => {
      let last = "";
      for (const file of exportSite(store, { clearance, now: powers.now(), record: !readOnly })) {
        powers.tell("file", { path: file.path, text: file.text });
        last = file.text;
        // Lets the port send the file before the next one is generated.
        await undefined;
      }
      const report = reportOf(last);
      if (!readOnly) {
        const text = `${report.pages} pages, ${report.sources} sources up to ${clearance} to ${to}`;
        store.log.append({ kind: "export", by: "operator", text });
      }
      return report;
    },
  }),
};
