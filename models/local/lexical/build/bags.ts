/** Each meaning as a bag of words: its names, what defines it, and the names of what it is linked to. @module */
import { lemma } from "../lemma.ts";
import { STOP_WORDS } from "../stop_words.ts";
import { wordsOf } from "../words.ts";
import type { Meaning, WordNetPart } from "./wordnet.ts";

/** How much a word counts, by where it stands. Chosen on bench/_data/paraphrase/tuning.txt. */
export const WEIGHTS = Object.freeze({
  name: 1.5,
  /** A part of a name of several words, in parts of `name`. */
  namePart: 0.5,
  /** How much less a name counts for each meaning that is more usual. */
  rank: 0.5,
  definition: 1,
  example: 0.5,
  /** By the sign of the link; signs of two characters by their first one where they have no line. */
  link: Object.freeze<Record<string, number>>({
    "@": 0.5,
    "+": 0.5,
    "&": 0.5,
    "^": 0.5,
    "*": 0.5,
    ">": 0.5,
    "=": 0.5,
    "\\": 0.5,
    "<": 0.5,
    "$": 0.5,
    "%": 0.3,
    "#": 0.3,
    ";c": 0.3,
  }),
});

/** Words in a definition or an example, at most. */
const MOST = 1_000;

/** A bag: words, how much each of them counts. */
export type Bag = ReadonlyMap<string, number>;

/** One bag for each meaning, in their order. */
export function bagsOf(parts: readonly WordNetPart[]): readonly Bag[] {
  const known = singleNames(parts);
  const memo = new Map<string, string>();
  const base = (word: string): string => {
    let found = memo.get(word);
    if (found === undefined) memo.set(word, found = lemma(word, (one) => known.has(one)));
    return found;
  };
  const names = new Map<string, readonly Weighted[]>();
  for (const { meanings, ranks } of parts) {
    for (const meaning of meanings) names.set(meaning.id, namesOf(meaning, ranks, base));
  }
  return parts.flatMap(({ meanings }) =>
    meanings.map((meaning) => bagOf(meaning, { names, content: (text) => contentOf(text, base) }))
  );
}

type Weighted = readonly [word: string, weight: number];

function singleNames(parts: readonly WordNetPart[]): ReadonlySet<string> {
  const all = parts.flatMap(({ meanings }) => meanings.flatMap(({ names }) => names));
  return new Set(all.filter((name) => /^[a-z]+$/.test(name)));
}

function contentOf(text: string, base: (word: string) => string): readonly string[] {
  return wordsOf(text, MOST).filter((word) => !STOP_WORDS.has(word)).map(base)
    .filter((word) => !STOP_WORDS.has(word));
}

function namesOf(
  { id, names }: Meaning,
  ranks: ReadonlyMap<string, number>,
  base: (word: string) => string,
): readonly Weighted[] {
  return names.flatMap((name) => {
    const words = name.split(/[^a-z]+/).filter((word) => word !== "" && !STOP_WORDS.has(word));
    const weight = words[0] === name
      ? 1 / (1 + WEIGHTS.rank * (ranks.get(`${name} ${id}`) ?? 0))
      : WEIGHTS.namePart;
    return words.map((word): Weighted => [base(word), weight]);
  });
}

function bagOf(
  { id, definition, examples, links }: Meaning,
  { names, content }: {
    readonly names: ReadonlyMap<string, readonly Weighted[]>;
    readonly content: (text: string) => readonly string[];
  },
): Bag {
  const bag = new Map<string, number>();
  const add = (word: string, weight: number): void => {
    bag.set(word, (bag.get(word) ?? 0) + weight);
  };
  for (const [word, weight] of names.get(id) ?? []) add(word, WEIGHTS.name * weight);
  for (const word of content(definition)) add(word, WEIGHTS.definition);
  for (const word of content(examples)) add(word, WEIGHTS.example);
  for (const [sign, to] of links) {
    const counts = WEIGHTS.link[sign] ?? WEIGHTS.link[sign.charAt(0)];
    if (counts === undefined) continue;
    for (const [word, weight] of names.get(to) ?? []) add(word, counts * weight);
  }
  return bag;
}
