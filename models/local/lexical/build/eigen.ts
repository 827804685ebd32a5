/** Eigenvectors of a symmetric matrix, by rotations that make it diagonal (Jacobi). @module */

const SWEEPS = 16;
/** Squares beside the diagonal, as a part of those on it. */
const SMALL = 1e-24;

/** Values in descending order, and the vectors as rows in the same order. */
export interface Eigen {
  readonly values: Float64Array;
  readonly vectors: Float64Array;
}

/** Eigenvalues and eigenvectors of `matrix` (`width` × `width`), which is left as it was. */
export function eigenOf(matrix: Float64Array, width: number): Eigen {
  const m = matrix.slice();
  const v = new Float64Array(width * width);
  for (let n = 0; n < width; n++) v[n * width + n] = 1;
  for (let sweep = 0; sweep < SWEEPS && !isDiagonal(m, width); sweep++) {
    for (let p = 0; p < width; p++) {
      for (let q = p + 1; q < width; q++) rotate(m, v, { p, q, width });
    }
  }
  const diagonal = (n: number): number => m[n * width + n] ?? 0;
  const order = Array.from({ length: width }, (_, n) => n)
    .sort((a, b) => diagonal(b) - diagonal(a) || a - b);
  const vectors = new Float64Array(width * width);
  order.forEach((from, to) => {
    vectors.set(v.subarray(from * width, (from + 1) * width), to * width);
  });
  return { values: Float64Array.from(order, diagonal), vectors };
}

function isDiagonal(m: Float64Array, width: number): boolean {
  let [on, off] = [0, 0];
  m.forEach((each, n) => {
    if (n % (width + 1) === 0) on += each * each;
    else off += each * each;
  });
  return off <= SMALL * on;
}

function rotate(
  m: Float64Array,
  v: Float64Array,
  { p, q, width }: { readonly p: number; readonly q: number; readonly width: number },
): void {
  const of = (i: number, j: number): number => m[i * width + j] ?? 0;
  const beside = of(p, q);
  if (beside === 0) return;
  const theta = (of(q, q) - of(p, p)) / (2 * beside);
  const tangent = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  turn(m, { from: p * width, to: q * width, step: 1, width, cosine, sine });
  turn(m, { from: p, to: q, step: width, width, cosine, sine });
  turn(v, { from: p * width, to: q * width, step: 1, width, cosine, sine });
}

function turn(m: Float64Array, { from, to, step, width, cosine, sine }: {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly width: number;
  readonly cosine: number;
  readonly sine: number;
}): void {
  for (let n = 0; n < width; n++) {
    const [x, y] = [m[from + n * step] ?? 0, m[to + n * step] ?? 0];
    m[from + n * step] = cosine * x - sine * y;
    m[to + n * step] = sine * x + cosine * y;
  }
}
