/** From a text to its vector: what its words mean, the rare ones more. @module */
import { addHashed } from "./hash_vector.ts";
import { lemma } from "./lemma.ts";
import type { Lexicon } from "./lexicon_file.ts";
import { STOP_WORDS } from "./stop_words.ts";
import { wordsOf } from "./words.ts";

/** Words of a text that are read. */
export const MOST_WORDS = 8_192;
/** A word that the lexicon lacks counts as a rare one. */
const UNKNOWN = 1;
/** One or two letters or digits say little. */
const SHORT = 0.4;

/** A text's vector, and how many words it was made from. */
export interface TextVector {
  /** Of length 1, or all zero where nothing was said. */
  readonly vector: Float32Array;
  readonly words: number;
}

/** Makes the vector of `text`. */
export function textVector(lexicon: Lexicon, text: string): TextVector {
  const words = wordsOf(text, MOST_WORDS);
  const sum = new Float64Array(lexicon.dimensions);
  for (const [word, times] of content(lexicon, words)) {
    // A word said four times is twice the subject.
    const weight = Math.sqrt(times);
    const n = lexicon.find(word);
    if (n !== undefined) lexicon.addTo(sum, n, weight);
    else addHashed(sum, word, weight * (/^[a-z0-9]{1,2}$/.test(word) ? SHORT : UNKNOWN));
  }
  return { vector: unit(sum), words: words.length };
}

function content(lexicon: Lexicon, words: readonly string[]): ReadonlyMap<string, number> {
  const known = (word: string): boolean => lexicon.find(word) !== undefined;
  const counts = new Map<string, number>();
  for (const word of words) {
    if (STOP_WORDS.has(word)) continue;
    const base = lemma(word, known);
    if (!STOP_WORDS.has(base)) counts.set(base, (counts.get(base) ?? 0) + 1);
  }
  return counts;
}

function unit(sum: Float64Array): Float32Array {
  let square = 0;
  for (const each of sum) square += each * each;
  const factor = square > 0 ? 1 / Math.sqrt(square) : 0;
  return Float32Array.from(sum, (each) => each * factor);
}
