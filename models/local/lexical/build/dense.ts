/** Products of tall matrices: `rows` × `width` 32-bit numbers, row by row, summed in 64 bits. @module */

/** Rows that are taken together: the sums are then read and written a quarter as often. */
const TOGETHER = 4;
/** What is left of a column's square without the columns before it, at least. */
const TOO_ALIKE = 1e-13;

/** `aᵀ b`, `width` × `width`, where that is known to be symmetric: half of it is computed. */
export function innerProducts(a: Float32Array, b: Float32Array, width: number): Float64Array {
  const sums = new Float64Array(width * width);
  // Rows that are left over at the end stand with rows of zeros.
  const rest = a.length % (TOGETHER * width);
  addInner(sums, a, b, { width, end: a.length - rest });
  if (rest > 0) {
    const last = (m: Float32Array): Float32Array => {
      const rows = new Float32Array(TOGETHER * width);
      rows.set(m.subarray(m.length - rest));
      return rows;
    };
    addInner(sums, last(a), last(b), { width, end: TOGETHER * width });
  }
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < i; j++) sums[i * width + j] = sums[j * width + i] ?? 0;
  }
  return sums;
}

function addInner(
  sums: Float64Array,
  a: Float32Array,
  b: Float32Array,
  { width, end }: { readonly width: number; readonly end: number },
): void {
  for (let r = 0; r < end; r += TOGETHER * width) {
    for (let i = 0; i < width; i++) {
      const p = a[r + i] ?? 0;
      const q = a[r + width + i] ?? 0;
      const s = a[r + 2 * width + i] ?? 0;
      const t = a[r + 3 * width + i] ?? 0;
      const to = i * width;
      for (let j = i; j < width; j++) {
        const at = r + j;
        sums[to + j] = (sums[to + j] ?? 0) + p * (b[at] ?? 0) + q * (b[at + width] ?? 0) +
          s * (b[at + 2 * width] ?? 0) + t * (b[at + 3 * width] ?? 0);
      }
    }
  }
}

/** `a m`, where `m` is `width` × `width`, and zero below its diagonal if it is `upper`; `width` is a multiple of 4. */
export function timesSquare(
  a: Float32Array,
  m: Float64Array,
  { width, upper = false }: { readonly width: number; readonly upper?: boolean },
): Float32Array {
  const product = new Float32Array(a.length);
  const sum = new Float64Array(width);
  for (let r = 0; r < a.length; r += width) {
    sum.fill(0);
    for (let i = 0; i < width; i += TOGETHER) {
      const p = a[r + i] ?? 0;
      const q = a[r + i + 1] ?? 0;
      const s = a[r + i + 2] ?? 0;
      const t = a[r + i + 3] ?? 0;
      const at = i * width;
      for (let j = upper ? i : 0; j < width; j++) {
        sum[j] = (sum[j] ?? 0) + p * (m[at + j] ?? 0) + q * (m[at + width + j] ?? 0) +
          s * (m[at + 2 * width + j] ?? 0) + t * (m[at + 3 * width + j] ?? 0);
      }
    }
    product.set(sum, r);
  }
  return product;
}

/** The inverse of the upper triangle R with RᵀR = `square`: what makes `a` orthonormal where `square` is aᵀa. */
export function inverseRoot(square: Float64Array, width: number): Float64Array {
  const lower = new Float64Array(width * width);
  const of = (m: Float64Array, i: number, j: number): number => m[i * width + j] ?? 0;
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) {
      let rest = of(square, i, j);
      for (let k = 0; k < j; k++) rest -= of(lower, i, k) * of(lower, j, k);
      if (i === j && !(rest > TOO_ALIKE * of(square, i, i))) {
        throw new RangeError("Cannot make columns orthonormal: they are too alike");
      }
      lower[i * width + j] = i === j ? Math.sqrt(rest) : rest / of(lower, j, j);
    }
  }
  const inverse = new Float64Array(width * width);
  for (let j = 0; j < width; j++) {
    inverse[j * width + j] = 1 / of(lower, j, j);
    for (let i = j + 1; i < width; i++) {
      let rest = 0;
      // The inverse of the lower triangle, laid down turned: row j holds its column j.
      for (let k = j; k < i; k++) rest -= of(lower, i, k) * of(inverse, j, k);
      inverse[j * width + i] = rest / of(lower, i, i);
    }
  }
  return inverse;
}
