/** Counts what people do not see in a text, or see as something else. @module */
import { findLookAlikes } from "./_look_alike.ts";

/** A kind of hidden content, in words, and how often it occurs. */
export interface Hidden {
  readonly what: string;
  readonly count: number;
}

/** The kinds; the first pattern that fits names a character. */
const KINDS: readonly (readonly [string, RegExp])[] = [
  ["characters that turn the direction of text", /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u],
  ["tag characters, which spell a text that nobody sees", /[\u{e0000}-\u{e007f}]/u],
  ["variation selectors, which can carry bytes", /[\ufe00-\ufe0e\u{e0100}-\u{e01ef}]/u],
  ["line breaks that hide (CR alone, or of Unicode)", /[\r\u0085\u2028\u2029]/u],
  ["control characters", /\p{Cc}/u],
  ["characters without a meaning of their own", /[\p{Co}\p{Cn}\p{Cs}]/u],
  ["characters of no width or no ink", /[\p{Cf}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}]/u],
];
/** Line ends, tabs, and the joiners of emoji are not hidden. */
const PLAIN = /\r\n|[\n\t\ufe0f]|\p{Emoji}\u200d(?=\p{Emoji})/gu;

/**
 * Counts hidden characters by kind; empty where there are none. Also counts long runs of blanks and words of mixed
 * alphabets.
 */
export function hiddenIn(text: string): readonly Hidden[] {
  const counts = new Map<string, number>();
  const add = (what: string, more = 1): void =>
    void counts.set(what, (counts.get(what) ?? 0) + more);
  // Visible characters and spaces, most of any text, are skipped.
  for (
    const [sign] of text.replace(PLAIN, "").matchAll(
      /[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u{2800}\u{fffc}]/gu,
    )
  ) {
    const kind = KINDS.find(([, pattern]) => pattern.test(sign));
    if (kind !== undefined) add(kind[0]);
  }
  const gaps = text.match(/ {40,}|\n{12,}/g)?.length ?? 0;
  if (gaps > 0) add("gaps that push text out of sight", gaps);
  const alike = findLookAlikes(text).size;
  if (alike > 0) add("words with letters that look like others", alike);
  return [...counts].map(([what, count]) => ({ what, count }));
}
