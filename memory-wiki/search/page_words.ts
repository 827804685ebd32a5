/**
 * Word statistics of pages, and BM25 scores field by field, with the parameters that docs/retrieval.md
 * measured with Orama; the order equals Orama's (test: "passages of pages are ordered as Orama orders them").
 * Used by index_file.ts and page_index.ts.
 * @module
 */
import type { Ranking } from "./ranking.ts";

/** Words of a passage, separated by spaces. */
export interface PassageWords {
  readonly title: string;
  readonly headings: string;
  readonly body: string;
}

/** Fields of a passage, in scoring order. */
export const FIELDS = ["title", "headings", "body"] as const;
/** One of {@link FIELDS}. */
export type Field = (typeof FIELDS)[number];

/** Postings of a word: per field, ascending passage numbers, each followed by the word's count. */
export type Postings = Readonly<Record<Field, readonly number[]>>;

/** Words of passages in memory. */
export interface WordTable {
  /** Adds a passage; numbers must ascend. */
  add(number: number, words: PassageWords): void;
  of(term: string): Postings | undefined;
  /** All words, unordered. */
  entries(): Iterable<readonly [string, Postings]>;
}

/** Splits a list of words. */
export function wordsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(" ");
}

/** Counts of each word in a field. */
export function countsOf(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

export function makeWordTable(): WordTable {
  const table = new Map<string, Record<Field, number[]>>();
  return Object.freeze<WordTable>({
    add(number, words) {
      for (const field of FIELDS) {
        for (const [word, count] of countsOf(words[field])) {
          let found = table.get(word);
          if (found === undefined) {
            found = { title: [], headings: [], body: [] };
            table.set(word, found);
          }
          found[field].push(number, count);
        }
      }
    },
    of: (term) => table.get(term),
    entries: () => table.entries(),
  });
}

/** Parameters of {@link scoreField}. */
export interface FieldScoring {
  readonly field: Field;
  readonly ranking: Ranking;
  /** Number of passages, and of those whose field contains the word. */
  readonly passages: number;
  readonly holding: number;
  /** Whether a passage exists; deleted ones do not. */
  readonly counts: (number: number) => boolean;
  /** Number of words of a passage's body. */
  readonly wordsIn: (number: number) => number;
}

/** Adds a word's score in one field to the passages that contain it. */
export function scoreField(
  scores: Map<number, number>,
  postings: readonly number[],
  { field, ranking, passages, holding, counts, wordsIn }: FieldScoring,
): void {
  const { pageSaturation: k, pageLength, pageWords, pageTitle, pageHeadings } = ranking;
  const boost = field === "title" ? pageTitle : field === "headings" ? pageHeadings : 1;
  const rarity = Math.log(1 + (passages - holding + 0.5) / (holding + 0.5));
  for (let at = 0; at < postings.length; at += 2) {
    const number = postings[at] ?? 0;
    if (!counts(number)) continue;
    // In titles and headings a word counts once; in a body by frequency, normalised by length.
    const count = field !== "body"
      ? 1
      : (postings[at + 1] ?? 0) / (1 - pageLength + pageLength * wordsIn(number) / pageWords);
    const score = rarity * (count * (k + 1)) / (count + k) * boost;
    scores.set(number, (scores.get(number) ?? 0) + score);
  }
}
