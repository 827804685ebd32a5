/** `wiki lint`: reports faults in a wiki with place and remedy, and proposes patches. @module */
import { join } from "node:path";
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { LINT_RULES } from "../../../contracts/memory/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { flag, has, oneOf } from "../../arguments/parse_arguments.ts";
import {
  type FindingAnswer,
  readFindings,
  readPatches,
} from "../../../memory-wiki/host/answers.ts";
import { counted, EVERYTHING, operatorName, shownPath, withWiki } from "../command.ts";
import { contradictionsByModel, sayJudged } from "../model/lint.ts";
import { decideMany } from "../patch.ts";
import type { WikiPlace } from "../place.ts";
import type { Basic } from "../../powers.ts";

function findingLines(
  { powers }: Command,
  { folder }: WikiPlace,
  finding: FindingAnswer,
): readonly string[] {
  const { paint } = powers.screen;
  const at = (place: { readonly file: string; readonly line?: number | undefined }): string =>
    `${shownPath(powers.environment, join(folder, place.file))}${
      place.line === undefined ? "" : `:${place.line}`
    }`;
  const word = finding.severity === "error" ? paint.red("error") : paint.yellow("warning");
  const other = finding.other === undefined ? "" : `; see ${paint.cyan(at(finding.other))}`;
  return [
    `${paint.cyan(at(finding))}: ${word} ${finding.rule}: ${
      displayText(finding.message, { max: 500 })
    }${other}`,
    `  ${
      paint.dim(
        `${displayText(finding.remedy, { max: 300 })}${
          finding.fixable ? " (--fix proposes it)" : ""
        }`,
      )
    }`,
  ];
}

/** `wiki lint`. Exit code 0 when clean or with warnings only, 1 with errors. */
export async function wikiLint(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const { powers, parsed } = command;
  const rule = oneOf(parsed, "rule", LINT_RULES);
  const byModel = flag(parsed, "model") !== undefined;
  if (!byModel && has(parsed, "max-cost")) {
    throw new Fault(
      "invalidInput",
      "Cannot read --max-cost: without --model nothing costs anything",
    );
  }
  if (byModel && rule !== undefined && rule !== "contradiction") {
    throw new Fault(
      "invalidInput",
      `Cannot read --model: a model looks for contradictions, not for ${rule}`,
    );
  }
  return await withWiki(command, async (wiki) => {
    const judged = byModel ? await contradictionsByModel(command, wiki) : undefined;
    const lint = async (): Promise<readonly FindingAnswer[]> => [
      ...readFindings(
        await wiki.ask("lint", {
          clearance: EVERYTHING,
          rules: rule === undefined ? rule : [rule],
        }),
      ),
      ...judged?.findings ?? [],
    ];
    let findings = await lint();
    const patches = has(parsed, "fix") && findings.some((each) => each.fixable)
      ? readPatches(await wiki.ask("lintFix", { by: operatorName(powers) }))
      : [];
    if (!command.json) {
      printLines(command, findings.flatMap((each) => findingLines(command, wiki.place, each)));
      const decided = patches.length === 0 ? [] : await decideMany(command, wiki, patches);
      // Applied patches change the findings: report the current ones.
      if (decided.some(({ state }) => state === "applied")) findings = await lint();
    }
    const errors = findings.filter((each) => each.severity === "error").length;
    const warnings = findings.length - errors;
    if (command.json) {
      const proposed = has(parsed, "fix") ? patches.map(({ id }) => id) : undefined;
      printJson(command, { errors, warnings, findings, model: judged?.about, patches: proposed });
    } else {
      const { paint, say } = powers.screen;
      const words = `${counted(errors, "error")}, ${counted(warnings, "warning")}`;
      say(findings.length === 0 ? paint.green("clean") : words);
      if (judged !== undefined) sayJudged(command, judged);
      if (has(parsed, "fix") && patches.length === 0) say("  nothing of it can be fixed by rule");
    }
    return errors === 0 ? EXIT.success : EXIT.failure;
  });
}
