/** Searches documents by vectors, by a model, or both, and counts the cost. @module */
import { type Colour, Label } from "../../contracts/authority/mod.ts";
import { displayText } from "../../text/mod.ts";
import { cutTo } from "../terminal/columns.ts";
import type { Command } from "../command.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { passagesOf, type SemanticDocument } from "./sgrep_documents.ts";
import { judgeAsk, readVerdict } from "./sgrep_judge.ts";
import { makeSpending, type Spending } from "./sgrep_spending.ts";
import { openModel, sayWhere, usd } from "../wiki/model/ask.ts";
import { counted, numberOf } from "../wiki/command.ts";
import { openEmbedder } from "../wiki/model/vectors.ts";
import type { Basic } from "../powers.ts";

/** Ways to search. The caller must choose: there is no default. */
export const MODES = ["embed", "llm", "hybrid"] as const;
/** One of {@link MODES}. */
export type SearchMode = typeof MODES[number];

/** A document that was found. */
export interface Match {
  readonly file: string;
  readonly line: number;
  readonly score: number;
  /** The passage, or the model's reason: safe. */
  readonly text: string;
}

/** The result of a search. */
export interface Result {
  readonly matches: readonly Match[];
  readonly looked: number;
  readonly model: string;
  readonly money: number;
  readonly tokens: number;
  /** The reason for an end before the last document. */
  readonly stopped?: "maxCost" | "earlyStop" | undefined;
}

const MAX_COST = 10_000;
const CONFIRMED = 20;
const CONFIDENT = 0.9;
/** Files are YELLOW, regardless of their author. */
const COLOUR: Colour = "YELLOW";

/** Prints lines of `--verbose`. */
export function verbose(command: Command): (line: string) => void {
  const { screen } = command.powers;
  return has(command.parsed, "verbose") ? (line) => screen.say(`[SGREP] ${line}`) : () => undefined;
}

/** Each document's best passage by vectors, the best first. */
async function byVectors(
  command: Command<Basic | "mcpStore" | "models">,
  query: string,
  documents: readonly SemanticDocument[],
): Promise<Result> {
  const say = verbose(command);
  const embedder = await openEmbedder(command, flag(command.parsed, "embedder"));
  try {
    sayWhere(command, embedder.providers);
    const max = numberOf(command, "max-cost", MAX_COST) ?? Infinity;
    const looked = affordable(query, documents, (texts) => embedder.priceOf(texts), max);
    const stopped = looked.length < documents.length ? "maxCost" as const : undefined;
    const passages = looked.flatMap(passagesOf);
    if (passages.length === 0) {
      return { matches: [], looked: 0, model: embedder.ref, money: 0, tokens: 0, stopped };
    }
    const label = labelOf(command);
    const texts = [query, ...passages.map(({ text }) => text)];
    const made = await embedder.embed(texts, label, 1);
    const { cosine } = await command.powers.models.vectors();
    const [asked, ...vectors] = made.vectors.map((each) => Float32Array.from(each));
    const best = new Map<number, Match>();
    passages.forEach(({ document, line, text }, n) => {
      const vector = vectors[n];
      const score = asked === undefined || vector === undefined ? 0 : cosine(asked, vector);
      if (score <= (best.get(document)?.score ?? -Infinity)) return;
      const file = documents[document]?.file ?? "";
      best.set(document, { file, line, score, text: cutTo(displayText(firstLine(text)), 200) });
    });
    const each = (made.money / Math.max(1, looked.length)).toFixed(4);
    const matches = [...best.values()].sort((a, b) =>
      b.score - a.score || (a.file < b.file ? -1 : 1)
    );
    for (const { file, score } of matches) {
      say(`${file}: score=${score.toFixed(2)} (cost=$${each})`);
    }
    return {
      ...{ matches, looked: looked.length, model: embedder.ref },
      ...{ money: made.money, tokens: made.inputTokens, stopped },
    };
  } finally {
    embedder.close();
  }
}

/** The first documents, as many as cost at most `max` with the query. */
function affordable(
  query: string,
  documents: readonly SemanticDocument[],
  priceOf: (texts: readonly string[]) => number,
  max: number,
): readonly SemanticDocument[] {
  let left = max - priceOf([query]);
  const end = documents.findIndex((each, n) => {
    left -= priceOf(passagesOf(each, n).map(({ text }) => text));
    return left < 0;
  });
  return end < 0 ? documents : documents.slice(0, end);
}

function firstLine(text: string): string {
  return text.split("\n").find((line) => line.trim() !== "")?.trim() ?? "";
}

function labelOf({ parsed }: Command): Label {
  return oneOf(parsed, "label", Label.options) ?? "internal";
}

/** Lets a model read each document, until the limit or until one is good enough. */
async function byModel(
  command: Command<Basic | "mcpStore" | "models">,
  query: string,
  documents: readonly SemanticDocument[],
  spent = 0,
): Promise<Result> {
  const { parsed, powers } = command;
  const given = numberOf(command, "max-cost", MAX_COST);
  const max = given === undefined ? undefined : Math.max(0, given - spent);
  const enough = has(parsed, "early-stop")
    ? numberOf(command, "confidence", 1) ?? CONFIDENT
    : undefined;
  const model = await openModel(command);
  try {
    const spending = makeSpending(model, { max, label: labelOf(command), colour: COLOUR });
    const mark = powers.environment.id("m");
    const asks = documents.map((each) => judgeAsk(query, each, mark));
    sayCost(command, { model, spending, asks });
    const { matches, looked, stopped } = await readEach(command, {
      ...{ documents, asks, spending, enough },
    });
    const { money, tokens } = spending.spent;
    return { matches, looked, model: model.name, money, tokens, stopped };
  } finally {
    model.close();
  }
}

function sayCost(
  command: Command,
  { model, spending, asks }: {
    readonly model: Parameters<typeof makeSpending>[0];
    readonly spending: Spending;
    readonly asks: readonly ReturnType<typeof judgeAsk>[];
  },
): void {
  const { screen } = command.powers;
  const price = asks.reduce((sum, ask) => sum + spending.worst(ask), 0);
  const limit = flag(command.parsed, "max-cost");
  screen.say(
    `  ${counted(asks.length, "request")} to ${displayText(model.name, { max: 100 })}, at most ${
      usd(price)
    }${limit === undefined ? "" : `; stops at ${usd(Number(limit))}`}`,
  );
  sayWhere(command, model.providers);
}

async function readEach(
  command: Command,
  { documents, asks, spending, enough }: {
    readonly documents: readonly SemanticDocument[];
    readonly asks: readonly ReturnType<typeof judgeAsk>[];
    readonly spending: Spending;
    readonly enough: number | undefined;
  },
): Promise<Pick<Result, "matches" | "looked" | "stopped">> {
  const say = verbose(command);
  const { screen } = command.powers;
  const matches: Match[] = [];
  let looked = 0;
  for (const [n, document] of documents.entries()) {
    const ask = asks[n];
    if (ask === undefined) break;
    screen.hint(`  ${n + 1}/${documents.length}  ${document.file} …`);
    const answer = await spending.ask(ask);
    if (answer === undefined) return { matches, looked, stopped: "maxCost" };
    looked += 1;
    const verdict = readVerdict(answer.text, document);
    const tokens = answer.inputTokens + answer.outputTokens;
    const cost = `(tokens=${tokens}, cost=$${answer.money.toFixed(4)})`;
    if (verdict === undefined) {
      say(`${document.file}: no score, the model's answer does not fit ${cost}`);
      continue;
    }
    say(`${document.file}: score=${verdict.score.toFixed(2)} ${cost}`);
    const { score, line, why } = verdict;
    matches.push({ file: document.file, line, score, text: displayText(why, { max: 300 }) });
    if (enough !== undefined && score >= enough) return { matches, looked, stopped: "earlyStop" };
  }
  screen.hint("");
  return { matches, looked };
}

/** Searches. Throws as `openModel` and `openEmbedder`. */
export async function searchDocuments(
  command: Command<Basic | "mcpStore" | "models">,
  { mode, query, documents, top }: {
    readonly mode: SearchMode;
    readonly query: string;
    readonly documents: readonly SemanticDocument[];
    readonly top: number | undefined;
  },
): Promise<Result> {
  if (mode === "llm") return await byModel(command, query, documents);
  const near = await byVectors(command, query, documents);
  if (mode === "embed") return near;
  const best = near.matches.slice(0, top ?? CONFIRMED).flatMap(({ file }) =>
    documents.filter((each) => each.file === file)
  );
  if (best.length === 0) return near;
  const read = await byModel(command, query, best, near.money);
  return {
    ...read,
    stopped: read.stopped ?? near.stopped,
    money: read.money + near.money,
    tokens: read.tokens + near.tokens,
    model: `${near.model}, ${read.model}`,
  };
}
