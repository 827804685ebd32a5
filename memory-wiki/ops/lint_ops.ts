/** The lint, and the patches that mend what rules may mend. @module */
import { z } from "zod";
import { cleared, type Finding, Label, LINT_RULES } from "../../contracts/mod.ts";
import { fixFindings, lintWiki } from "../lint/mod.ts";
import { type Op, reading, writing } from "./op.ts";
import type { OpenWiki } from "./open_wiki.ts";

async function findingsOf(
  { store, hands, problems }: OpenWiki,
  clearance: Label,
  rules?: readonly Finding["rule"][],
): Promise<readonly Finding[]> {
  return await lintWiki(store, {
    ...{ clearance, now: hands.now(), problems: problems() },
    ...(rules === undefined ? {} : { rules }),
  });
}

/** See the table in contracts/wire_wiki.ts. */
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

  lintFix: writing({
    body: z.object({ by: z.string().min(1).max(128) }).strict(),
    run: async (wiki, { by }) => {
      const findings = await findingsOf(wiki, "secret");
      return fixFindings(wiki.store, findings)
        .map((fix) => wiki.store.patches.propose({ author: by, ...fix }));
    },
  }),
};
