/** `sdiff`: shows how two documents differ, in the caller's mode. @module */
import { Label } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { has, oneOf } from "../arguments/parse_arguments.ts";
import { claimsDiff, MAX_READ, summaryDiff } from "./sdiff_claims.ts";
import {
  isSameStructure,
  type SectionPlace,
  type StructureDiff,
  structureDiff,
} from "./sdiff_structure.ts";
import { readDocument, type SemanticDocument } from "./sgrep_documents.ts";
import { makeSpending } from "./sgrep_spending.ts";
import { openModel, sayWhere, usd } from "../wiki/model/ask.ts";
import { numberOf } from "../wiki/command.ts";
import type { Basic } from "../powers.ts";

const MODES = ["structure", "claims", "summary"] as const;
const MAX_COST = 10_000;

function modeOf(command: Command): typeof MODES[number] {
  const mode = oneOf(command.parsed, "mode", MODES);
  if (mode !== undefined) return mode;
  throw new Fault(
    "invalidInput",
    [
      "Cannot compare: say how with --mode, there is no default",
      "  --mode structure  headings, sections, argument flow: free, no model, always the same answer",
      "  --mode claims     a model lists what each claims and pairs them: three requests",
      "  --mode summary    a model summarizes each: two requests, the summaries are compared",
    ].join("\n"),
  );
}

/** `sdiff`. Exit code 0 without differences, 1 with some. */
export async function sdiffCommand(
  command: Command<Basic | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const mode = modeOf(command);
  const [a = "", b = ""] = command.parsed.args;
  const documents = [readDocument(command, a), readDocument(command, b)] as const;
  if (mode === "structure") return byStructure(command, documents);
  return await byModel(command, mode, documents);
}

function byStructure(
  command: Command,
  [a, b]: readonly [SemanticDocument, SemanticDocument],
): number {
  const diff = structureDiff(a.text, b.text);
  if (command.json) {
    printJson(command, { mode: "structure", model: null, ...diff, cost_usd: 0, tokens: 0 });
  } else printLines(command, structureLines(command, diff));
  return isSameStructure(diff) ? EXIT.success : EXIT.failure;
}

function structureLines(command: Command, diff: StructureDiff): readonly string[] {
  const { paint } = command.powers.screen;
  const at = ({ section, line }: SectionPlace): string =>
    `${displayText(section, { max: 200 })} ${paint.dim(`(line ${line})`)}`;
  const flow = (moves: readonly string[]): string =>
    moves.length === 0 ? "none" : moves.join(" → ");
  const changed = diff.changed_sections.flatMap((each) => {
    const [w1, w2] = each.words;
    const [p1, p2] = each.paragraphs;
    const parts = [
      w1 === w2 ? "" : `${w1} → ${w2} words`,
      p1 === p2 ? "" : `${p1} → ${p2} paragraphs`,
      each.items[0] === each.items[1] ? "" : `${each.items[0]} → ${each.items[1]} items`,
      each.code[0] === each.code[1] ? "" : `${each.code[0]} → ${each.code[1]} blocks of code`,
      `${Math.round(each.similarity * 100)} % of the words the same`,
    ].filter((part) => part !== "");
    const [before, after] = [flow(each.flow.before), flow(each.flow.after)];
    return [
      `${paint.yellow("~")} ${at({ section: each.section, line: each.after_line })}: ${
        parts.join(", ")
      }`,
      ...(before === after ? [] : [paint.dim(`    argument: ${before}  becomes  ${after}`)]),
    ];
  });
  const lines = [
    ...diff.removed_sections.map((each) => `${paint.red("-")} ${at(each)}`),
    ...diff.added_sections.map((each) => `${paint.green("+")} ${at(each)}`),
    ...diff.renamed_sections.map(({ before, after }) =>
      `${paint.yellow("»")} ${at(before)} is now called ${at(after)}`
    ),
    ...diff.moved_sections.map(({ before, after }) =>
      `${paint.yellow("↕")} ${at(before)} moved to ${at(after)}`
    ),
    ...changed,
  ];
  return lines.length === 0 ? ["the same structure"] : lines;
}

async function byModel(
  command: Command<Basic | "mcpStore" | "models">,
  mode: "claims" | "summary",
  documents: readonly [SemanticDocument, SemanticDocument],
): Promise<number> {
  const { parsed, powers } = command;
  const { screen } = powers;
  const max = numberOf(command, "max-cost", MAX_COST);
  const label = oneOf(parsed, "label", Label.options) ?? "internal";
  const model = await openModel(command);
  try {
    sayWhere(command, model.providers);
    for (const { file, text } of documents) {
      if (text.length > MAX_READ) {
        screen.say(
          `  ${screen.paint.yellow("!")} of ${file} the first ${MAX_READ} characters are read`,
        );
      }
    }
    const spending = makeSpending(model, { max, label, colour: "YELLOW" });
    const mark = powers.environment.id("m");
    screen.hint("  the model reads …");
    const diff = mode === "claims"
      ? await claimsDiff(spending, documents, mark)
      : await summaryDiff(spending, documents, mark);
    screen.hint("");
    const { money, tokens, requests } = spending.spent;
    if (has(parsed, "verbose")) {
      screen.say(`[SDIFF] ${requests} requests (tokens=${tokens}, cost=$${money.toFixed(4)})`);
    }
    if (command.json) {
      printJson(command, { mode, model: model.name, ...diff, cost_usd: money, tokens });
    } else {
      printLines(command, meaningLines(command, diff));
      screen.say(screen.paint.dim(`  ${tokens} tokens, ${usd(money)}`));
    }
    const same = "added" in diff
      ? diff.added.length + diff.removed.length === 0
      : diff.added_claims.length + diff.removed_claims.length + diff.modified_claims.length === 0;
    return same ? EXIT.success : EXIT.failure;
  } finally {
    model.close();
  }
}

function meaningLines(
  { powers }: Command,
  diff: Awaited<ReturnType<typeof claimsDiff>> | Awaited<ReturnType<typeof summaryDiff>>,
): readonly string[] {
  const { paint } = powers.screen;
  const safe = (text: string): string => displayText(text, { max: 600 });
  const added = "added" in diff ? diff.added : diff.added_claims;
  const removed = "removed" in diff ? diff.removed : diff.removed_claims;
  const modified = "modified_claims" in diff ? diff.modified_claims : [];
  const lines = [
    ...removed.map((each) => `${paint.red("-")} ${safe(each)}`),
    ...added.map((each) => `${paint.green("+")} ${safe(each)}`),
    ...modified.flatMap(({ before, after, change_type }) => [
      `${paint.yellow("~")} ${safe(before)}`,
      `  ${safe(after)} ${paint.dim(`(${change_type})`)}`,
    ]),
  ];
  return lines.length === 0 ? ["the same, as the model reads them"] : lines;
}
