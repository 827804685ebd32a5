/** How near two vectors are. @module */

/** The cosine of the angle between two vectors of one length, from -1 to 1; 0 where one is all zero. */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) {
    throw new RangeError(`Cannot compare vectors: of ${a.length} and ${b.length} numbers`);
  }
  let [inner, ofA, ofB] = [0, 0, 0];
  for (let n = 0; n < a.length; n++) {
    const [x, y] = [a[n] ?? 0, b[n] ?? 0];
    inner += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  if (ofA === 0 || ofB === 0) return 0;
  return Math.max(-1, Math.min(1, inner / Math.sqrt(ofA * ofB)));
}
