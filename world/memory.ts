/**
 * The memory of one person of a world: a stream of entries with time, importance, source and
 * colour, recalled by recency × importance × relevance. What others said stays RED; only a person's
 * review improves a colour.
 * @module
 */
import * as z from "zod";
import { Colour, mixColour } from "../contracts/authority/mod.ts";

/** Factor of an entry's recency for each hour since it was made. */
const DECAY = 0.985;
/** Minimum relevance, so that recent and important entries about something else can be recalled. */
const MIN_RELEVANCE = 0.1;
/** Maximum share of recalled entries that one source's statements may take, so that nobody dominates. */
const MAX_SHARE = 0.5;

/** Something remembered. Times are minutes of the world. */
export const Memory = z.object({
  n: z.int().min(1),
  at: z.int().min(0),
  kind: z.enum(["knows", "saw", "heard", "did", "said", "plan", "reflection"]),
  text: z.string().max(2_000),
  importance: z.int().min(1).max(10),
  /** Origin: a person's name, `self`, `world` or `file`. */
  source: z.string().max(64),
  colour: Colour,
  /** Time from which recency counts: when the entry was made. */
  used: z.int().min(0),
  /** For a reflection: state of its review by a person. */
  review: z.enum(["open", "kept"]).optional(),
}).strict();
export type Memory = z.infer<typeof Memory>;

/** Counts of a text's words, without common plural and tense endings. */
function termsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]{3,}/gu)) {
    const term = word.replace(/(?:ing|ed|es|s)$/, "");
    counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return counts;
}

/** Relevance of each text to `query`, 0 to 1: cosine similarity of words weighted by rarity. */
export function relevanceOf(query: string, texts: readonly string[]): readonly number[] {
  const documents = texts.map(termsOf);
  const asked = termsOf(query);
  const spread = new Map<string, number>();
  for (const document of documents) {
    for (const term of document.keys()) spread.set(term, (spread.get(term) ?? 0) + 1);
  }
  const weight = (term: string): number =>
    Math.log(1 + texts.length / (1 + (spread.get(term) ?? 0)));
  const length = (terms: ReadonlyMap<string, number>): number =>
    Math.sqrt([...terms].reduce((sum, [term, count]) => sum + (count * weight(term)) ** 2, 0));
  const whole = length(asked);
  return documents.map((document) => {
    const both = whole * length(document);
    if (both === 0) return 0;
    let sum = 0;
    for (const [term, count] of asked) sum += count * (document.get(term) ?? 0) * weight(term) ** 2;
    return Math.min(1, sum / both);
  });
}

/** An entry and why it was recalled: each part 0 to 1. */
export interface Recalled {
  readonly entry: Memory;
  readonly recency: number;
  readonly importance: number;
  readonly relevance: number;
  readonly score: number;
}

/**
 * Recalls at most `most` entries at minute `now` for `query`, the highest score first. At most half
 * of them are statements of one other person.
 */
export function recall(
  stream: readonly Memory[],
  { query, now, most }: { readonly query: string; readonly now: number; readonly most: number },
): readonly Recalled[] {
  const relevant = relevanceOf(query, stream.map(({ text }) => text));
  const scored = stream.map((entry, at): Recalled => {
    const recency = DECAY ** (Math.max(0, now - entry.used) / 60);
    const importance = entry.importance / 10;
    const relevance = relevant[at] ?? 0;
    const score = recency * importance * (MIN_RELEVANCE + (1 - MIN_RELEVANCE) * relevance);
    return { entry, recency, importance, relevance, score };
  }).toSorted((a, b) => b.score - a.score || b.entry.n - a.entry.n);
  const bySource = new Map<string, number>();
  const found: Recalled[] = [];
  for (const each of scored) {
    if (found.length >= most) break;
    const { kind, source } = each.entry;
    const before = bySource.get(source) ?? 0;
    if (kind === "heard" && before >= Math.max(1, Math.floor(most * MAX_SHARE))) continue;
    bySource.set(source, before + 1);
    found.push(each);
  }
  return found;
}

/** The lowest colour of entries; BLUE if there are none. */
export function colourOf(entries: readonly Pick<Memory, "colour">[]): Colour {
  return entries.reduce<Colour>((sum, { colour }) => mixColour(sum, colour), "BLUE");
}

/** Appends entries with consecutive numbers; beyond `keeps` drops the least important of the older half. */
export function remember(
  stream: readonly Memory[],
  more: readonly Omit<Memory, "n" | "used">[],
  keeps: number,
): readonly Memory[] {
  const last = stream.at(-1)?.n ?? 0;
  const all = [
    ...stream,
    ...more.map((each, at) => ({ ...each, n: last + at + 1, used: each.at })),
  ];
  const over = all.length - keeps;
  if (over <= 0) return all;
  const older = all.slice(0, Math.max(over, Math.floor(all.length / 2)));
  const gone = new Set(
    older.toSorted((a, b) => a.importance - b.importance || a.n - b.n).slice(0, over)
      .map(({ n }) => n),
  );
  return all.filter(({ n }) => !gone.has(n));
}
