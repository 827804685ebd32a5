/** `sgrep`: documents that a query means, by a mode that the caller chooses. @module */
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { oneOf } from "../arguments/parse_arguments.ts";
import { readDocuments } from "./sgrep_documents.ts";
import {
  type Match,
  MODES,
  type Result,
  searchDocuments,
  type SearchMode,
  verbose,
} from "./sgrep_search.ts";
import { usd } from "../wiki/model/ask.ts";
import { counted, numberOf, wholeNumber } from "../wiki/command.ts";
import type { Basic } from "../powers.ts";

const MAX_DOCUMENTS = 100_000;
const BEST = 10;
const LIKELY = 0.5;

function modeOf(command: Command): SearchMode {
  const mode = oneOf(command.parsed, "mode", MODES);
  if (mode !== undefined) return mode;
  throw new Fault(
    "invalidInput",
    [
      "Cannot search by meaning: say how with --mode, there is no default",
      "  --mode embed   compares vectors: needs an embedder, free with one of this machine, fast, approximate",
      "  --mode llm     a model reads each document: one request a document, slow, accurate",
      "  --mode hybrid  embed first, then a model reads the best --top (20): that many requests",
    ].join("\n"),
  );
}

/** Runs the command. Exit code 0 with matches, 1 without. */
export async function sgrepCommand(
  command: Command<Basic | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const { parsed, powers } = command;
  const mode = modeOf(command);
  const [query = "", ...paths] = parsed.args;
  if (query.trim() === "") throw new Fault("invalidInput", "Cannot search: the query is empty");
  if (paths.length === 0) {
    throw new Fault("invalidInput", 'Cannot search: say where, as in sgrep --mode embed "…" docs/');
  }
  const most = wholeNumber(command, "max-docs", { least: 1, most: MAX_DOCUMENTS });
  const top = wholeNumber(command, "top", { least: 1, most: MAX_DOCUMENTS });
  const threshold = numberOf(command, "threshold", 1);
  const documents = readDocuments(command, paths, most ?? MAX_DOCUMENTS);
  verbose(command)(`Processing ${counted(documents.length, "document")}`);
  const result = documents.length === 0
    ? { matches: [], looked: 0, model: "", money: 0, tokens: 0 }
    : await searchDocuments(command, { mode, query, documents, top });
  const least = threshold ?? (mode === "embed" ? -1 : LIKELY);
  const shown = top ?? (mode === "embed" && threshold === undefined ? BEST : MAX_DOCUMENTS);
  const matches = result.matches.filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || (a.file < b.file ? -1 : 1)).slice(0, shown);
  powers.screen.hint("");
  print(command, { mode, query, documents: documents.length, result, matches });
  return matches.length > 0 ? EXIT.success : EXIT.failure;
}

function print(
  command: Command,
  { mode, query, documents, result, matches }: {
    readonly mode: string;
    readonly query: string;
    readonly documents: number;
    readonly result: Result;
    readonly matches: readonly Match[];
  },
): void {
  const { looked, model, money, tokens, stopped } = result;
  const { screen } = command.powers;
  if (command.json) {
    return void printJson(command, {
      ...{ mode, query, model, documents, looked_at: looked },
      results: matches.map(({ score, ...each }) => ({ ...each, score: Number(score.toFixed(4)) })),
      ...{ stopped: stopped ?? null, cost_usd: money, tokens },
    });
  }
  const { paint } = screen;
  printLines(
    command,
    matches.map(({ file, line, score, text }) =>
      `${paint.cyan(`${file}:${line}`)}  ${score.toFixed(2)}  ${text}`
    ),
  );
  const why = stopped === "maxCost"
    ? `; stopped at --max-cost after ${counted(looked, "document")}`
    : stopped === "earlyStop"
    ? `; stopped early after ${counted(looked, "document")}`
    : "";
  screen.say(
    screen.paint.dim(
      `  ${matches.length} of ${counted(documents, "document")}, ${tokens} tokens, ${
        usd(money)
      }${why}`,
    ),
  );
}
