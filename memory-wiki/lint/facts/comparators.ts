/** Phrases that bound the number after them. @module */
import type { Bound } from "./quantities.ts";
import { type Token } from "./tokens.ts";
import { numberWord } from "./units.ts";

const PHRASES: readonly (readonly [Bound, readonly string[]])[] = ([
  ["atMost", "no more than"],
  ["atMost", "not more than"],
  ["atMost", "at most"],
  ["atMost", "up to"],
  ["atMost", "as much as"],
  ["atMost", "as many as"],
  ["atMost", "less than"],
  ["atMost", "fewer than"],
  ["atMost", "not exceed"],
  ["atMost", "below"],
  ["atMost", "under"],
  ["atMost", "höchstens"],
  ["atLeast", "no less than"],
  ["atLeast", "no fewer than"],
  ["atLeast", "not less than"],
  ["atLeast", "at least"],
  ["atLeast", "more than"],
  ["atLeast", "greater than"],
  ["atLeast", "over"],
  ["atLeast", "above"],
  ["atLeast", "mindestens"],
  ["nearly", "approximately"],
  ["nearly", "roughly"],
  ["nearly", "about"],
  ["nearly", "around"],
  ["nearly", "nearly"],
  ["nearly", "almost"],
  ["nearly", "circa"],
  ["nearly", "ca"],
  ["nearly", "some"],
  ["nearly", "etwa"],
  ["is", "exactly"],
  ["is", "precisely"],
] as const).map(([bound, phrase]) => [bound, phrase.split(" ")]);

const BY_FIRST = new Map<string, (readonly [Bound, readonly string[]])[]>();
for (const phrase of PHRASES) {
  const first = phrase[1][0] ?? "";
  BY_FIRST.set(first, [...(BY_FIRST.get(first) ?? []), phrase]);
}

const MARKS: Readonly<Record<string, Bound>> = Object.freeze({
  "<": "atMost",
  "≤": "atMost",
  ">": "atLeast",
  "≥": "atLeast",
  "~": "nearly",
  "≈": "nearly",
});

function isNumber(token: Token | undefined): boolean {
  return token?.kind === "number" ||
    token?.kind === "word" && numberWord(token.text) !== undefined;
}

/** The bound that begins at token `at`, and how many tokens say it; undefined when no number follows. */
export function comparatorAt(
  tokens: readonly Token[],
  at: number,
): { readonly bound: Bound; readonly length: number } | undefined {
  const token = tokens[at];
  if (token?.kind === "mark") {
    const bound = Object.hasOwn(MARKS, token.text) ? MARKS[token.text] : undefined;
    if (bound === undefined) return undefined;
    const next = tokens[at + 1];
    const length = next?.kind === "mark" && next.text === "=" ? 2 : 1;
    return isNumber(tokens[at + length]) ? { bound, length } : undefined;
  }
  if (token?.kind !== "word") return undefined;
  const phrases = BY_FIRST.get(token.text);
  if (phrases === undefined) return undefined;
  for (const [bound, words] of phrases) {
    const fits = words.every((word, index) => {
      const other = tokens[at + index];
      return other?.kind === "word" && other.text === word;
    });
    if (fits && isNumber(tokens[at + words.length])) return { bound, length: words.length };
  }
  return undefined;
}
