/** Makes the lexicon from bags of words: latent semantic analysis, quantised to a byte a number. @module */
import type { LexiconParts } from "../lexicon_file.ts";
import type { Bag } from "./bags.ts";
import { latent } from "./latent.ts";
import { ln } from "./numbers.ts";
import type { Sparse } from "./sparse.ts";

/** Numbers of a vector. */
const DIMENSIONS = 256;
/** A word in fewer bags than this is left out: its letters stand for it. */
const FEWEST_BAGS = 4;
/** Divides weights, so that a rare word's is about 1. */
const USUAL_RARITY = 10;
const LEVELS = 127;

/** Words with their vectors. The same bags give the same numbers, whatever machine counts. */
export function buildLexicon(bags: readonly Bag[]): Omit<LexiconParts, "notice"> {
  const counts = countBags(bags);
  const words = [...counts.keys()].filter((word) => (counts.get(word) ?? 0) >= FEWEST_BAGS).sort();
  const rarity = Float64Array.from(words, (word) => ln(bags.length / (counts.get(word) ?? 1)));
  const vectors = latent(matrixOf(bags, words, rarity), DIMENSIONS);
  return { words, dimensions: DIMENSIONS, ...quantised(vectors, rarity) };
}

function countBags(bags: readonly Bag[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const bag of bags) {
    for (const word of bag.keys()) {
      if (/^[a-z]{2,64}$/.test(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return counts;
}

/** Bags are rows here: the lexicon's words are the columns, turned about. */
function matrixOf(bags: readonly Bag[], words: readonly string[], rarity: Float64Array): Sparse {
  const numbers = new Map(words.map((word, n) => [word, n]));
  const rows: [word: number, bag: number, value: number][] = [];
  const starts = new Int32Array(words.length + 1);
  bags.forEach((bag, n) => {
    const row: [number, number][] = [];
    let square = 0;
    for (const [word, weight] of bag) {
      const number = numbers.get(word);
      if (number === undefined) continue;
      const value = Math.sqrt(weight) * (rarity[number] ?? 0);
      row.push([number, value]);
      square += value * value;
    }
    // The fourth root of the square: a long definition says more, but not as much more as it is long.
    const norm = Math.sqrt(Math.sqrt(square));
    for (const [number, value] of row) {
      rows.push([number, n, value / norm]);
      starts[number + 1] = (starts[number + 1] ?? 0) + 1;
    }
  });
  for (let n = 0; n < words.length; n++) starts[n + 1] = (starts[n + 1] ?? 0) + (starts[n] ?? 0);
  const next = starts.slice();
  const at = new Int32Array(rows.length);
  const values = new Float32Array(rows.length);
  for (const [word, bag, value] of rows) {
    const place = next[word] ?? 0;
    next[word] = place + 1;
    at[place] = bag;
    values[place] = value;
  }
  return { rows: words.length, columns: bags.length, starts, at, values };
}

/** Directions as bytes; the length of a word's vector is its weight, rarity to the power of 1.5. */
function quantised(
  latent: Float32Array,
  rarity: Float64Array,
): Pick<LexiconParts, "steps" | "vectors"> {
  const steps = new Float32Array(rarity.length);
  const vectors = new Int8Array(latent.length);
  rarity.forEach((rare, word) => {
    const row = latent.subarray(word * DIMENSIONS, (word + 1) * DIMENSIONS);
    const square = row.reduce((sum, each) => sum + each * each, 0);
    const largest = row.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
    if (square === 0) return;
    const weight = (rare / USUAL_RARITY) * Math.sqrt(rare / USUAL_RARITY);
    steps[word] = weight * largest / LEVELS / Math.sqrt(square);
    row.forEach((each, k) => {
      vectors[word * DIMENSIONS + k] = Math.round(each / largest * LEVELS);
    });
  });
  return { steps, vectors };
}
