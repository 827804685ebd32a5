/**
 * Where the words of pages stand, and how much a passage says of a question: BM25, field by field, with the options that docs/retrieval.md
 * measured with Orama, whose order this is (test: "passages of pages are ordered as Orama orders them").
 * @module
 */
import type { Ranking } from "./ranking.ts";

/** A passage's words, each list joined by spaces. */
export interface PassageWords {
  readonly title: string;
  readonly headings: string;
  readonly body: string;
}

/** The parts of a passage that are asked one by one, in this order. */
export const FIELDS = ["title", "headings", "body"] as const;
/** One of {@link FIELDS}. */
export type Field = (typeof FIELDS)[number];

/** Where a word stands: for each field the passages' numbers, upward, each followed by how often it stands there. */
export type Postings = Readonly<Record<Field, readonly number[]>>;

/** Words of passages, in memory. */
export interface WordTable {
  /** Takes a passage in; numbers go upward. */
  add(number: number, words: PassageWords): void;
  of(term: string): Postings | undefined;
  /** All words, in no order. */
  entries(): Iterable<readonly [string, Postings]>;
}

/** The words of a list that is joined by spaces. */
export function wordsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(" ");
}

/** How often each word of a field stands there. */
export function countsOf(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Makes an empty one. */
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

/** What {@link scoreField} goes by. */
export interface FieldScoring {
  readonly field: Field;
  readonly ranking: Ranking;
  /** Passages in all, and those of them whose field holds the word. */
  readonly passages: number;
  readonly holding: number;
  /** Whether a passage counts; one that was taken out does not. */
  readonly counts: (number: number) => boolean;
  /** Words of a passage's body. */
  readonly wordsIn: (number: number) => number;
}

/** Adds to `scores` what a word says of the passages that hold it in one field. */
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
    // In title and headings a word counts once; in a body by its share of about as many words as passages have.
    const count = field !== "body"
      ? 1
      : (postings[at + 1] ?? 0) / (1 - pageLength + pageLength * wordsIn(number) / pageWords);
    const score = rarity * (count * (k + 1)) / (count + k) * boost;
    scores.set(number, (scores.get(number) ?? 0) + score);
  }
}
