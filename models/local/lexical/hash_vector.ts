/** Vectors of words that no lexicon has: of their letters, so that like names lie near each other. @module */

const FEWEST = 3;
const MOST = 5;
/** The word as a whole counts as so many of its parts. */
const WHOLE = 2;

/** Adds the vector of `word`, of length `weight`, to `sum`. The same letters give the same vector everywhere. */
export function addHashed(sum: Float64Array, word: string, weight: number): void {
  const own = new Float64Array(sum.length);
  const marked = `^${word}$`;
  addSigns(own, hash(marked), WHOLE);
  for (let length = FEWEST; length <= MOST && length < marked.length; length++) {
    for (let at = 0; at + length <= marked.length; at++) {
      addSigns(own, hash(marked.slice(at, at + length)), 1);
    }
  }
  let square = 0;
  for (const each of own) square += each * each;
  if (square === 0) return;
  const factor = weight / Math.sqrt(square);
  for (let n = 0; n < sum.length; n++) sum[n] = (sum[n] ?? 0) + factor * (own[n] ?? 0);
}

/** FNV-1a over UTF-16 code units. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) {
    state = Math.imul(state ^ text.charCodeAt(n), 0x01000193);
  }
  return state >>> 0;
}

/** Adds +`size` or -`size` to each number, as bits made from `seed` say. */
function addSigns(sum: Float64Array, seed: number, size: number): void {
  let state = seed;
  let bits = 0;
  for (let n = 0; n < sum.length; n++) {
    if (n % 32 === 0) {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      bits = (mixed ^ (mixed >>> 14)) >>> 0;
    }
    sum[n] = (sum[n] ?? 0) + ((bits & 1) === 1 ? size : -size);
    bits >>>= 1;
  }
}
