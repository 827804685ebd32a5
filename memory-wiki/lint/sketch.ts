/**
 * Sketches of texts: two that are nearly the same share most of theirs. One-permutation minhash over shingles of words,
 * so that a text costs one hash a word and a sketch is 512 bytes.
 * @module
 */

/** Words in a row that make a shingle. */
const SHINGLE = 4;
const BINS = 128;
/** Bins that make one band: near texts (0.85 and more alike) share at least one of 16 bands in 99 of 100 cases. */
const ROWS = 8;
/** Below so many words a text is too short to be called near another. */
const FEWEST_WORDS = 40;
const EMPTY = 0xffff_ffff;

/** A text's sketch. */
export type Sketch = Uint32Array;

function hashWord(word: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < word.length; at += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(at), 0x0100_0193);
  }
  return hash >>> 0;
}

function mix(hash: number): number {
  let value = hash;
  value = Math.imul(value ^ (value >>> 16), 0x7feb_352d);
  value = Math.imul(value ^ (value >>> 15), 0x846c_a68b);
  return (value ^ (value >>> 16)) >>> 0;
}

/** The sketch of a text; undefined when it is too short. Footnotes and case do not count. */
export function sketchOf(text: string): Sketch | undefined {
  const words = text.replaceAll(/^\[\^[^\n]*$/gmu, "").replaceAll(/\[\^[^\]\s]*\]/gu, "")
    .toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length < FEWEST_WORDS) return undefined;
  const sketch = new Uint32Array(BINS).fill(EMPTY);
  const hashes = words.map(hashWord);
  for (let at = 0; at + SHINGLE <= hashes.length; at += 1) {
    let hash = 0;
    for (let next = 0; next < SHINGLE; next += 1) {
      hash = mix((Math.imul(hash, 31) + (hashes[at + next] ?? 0)) >>> 0);
    }
    const bin = hash % BINS;
    const value = Math.floor(hash / BINS);
    if (value < (sketch[bin] ?? EMPTY)) sketch[bin] = value;
  }
  return sketch;
}

/** How alike two texts are, 0 to 1: of the bins that either fills, the part that both fill alike. */
export function likeness(a: Sketch, b: Sketch): number {
  let [same, filled] = [0, 0];
  for (let bin = 0; bin < BINS; bin += 1) {
    if (a[bin] === EMPTY && b[bin] === EMPTY) continue;
    filled += 1;
    if (a[bin] === b[bin]) same += 1;
  }
  return filled === 0 ? 0 : same / filled;
}

/** Keys of a sketch's bands: near texts share one. Empty bins take the next filled one's value. */
export function bandsOf(sketch: Sketch): readonly number[] {
  const keys: number[] = [];
  let hash = 0;
  for (let bin = 0; bin < BINS; bin += 1) {
    let from = bin;
    while (sketch[from % BINS] === EMPTY && from < bin + BINS) from += 1;
    hash = mix((Math.imul(hash, 31) + (sketch[from % BINS] ?? EMPTY) + (from - bin)) >>> 0);
    if (bin % ROWS !== ROWS - 1) continue;
    keys.push(bin * 2 ** 32 + hash);
    hash = 0;
  }
  return keys;
}
