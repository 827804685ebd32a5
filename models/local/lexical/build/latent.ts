/** The main directions of a sparse matrix: randomised subspace iteration. @module */
import { innerProducts, inverseRoot, timesSquare } from "./dense.ts";
import { eigenOf } from "./eigen.ts";
import { signs } from "./numbers.ts";
import { type Sparse, times, transposed } from "./sparse.ts";

/**
 * How often the matrix is applied before columns are made orthonormal, each time. Columns turn towards the
 * same direction with each application: after three, 32 bits do not tell the last ones apart.
 */
const APPLIED = [2, 1];
const SEED = 7;

/** Left singular vectors times their singular values: `matrix.rows` × `width` numbers, row by row. */
export function latent(matrix: Sparse, width: number): Float32Array {
  const turned = transposed(matrix);
  const apply = (y: Float32Array): Float32Array => times(matrix, times(turned, y, width), width);
  let basis = signs(matrix.rows * width, SEED);
  for (const often of APPLIED) {
    for (let n = 0; n < often; n++) basis = apply(basis);
    const root = inverseRoot(innerProducts(basis, basis, width), width);
    basis = timesSquare(basis, root, { width, upper: true });
  }
  const applied = apply(basis);
  const { values, vectors } = eigenOf(innerProducts(basis, applied, width), width);
  const turn = new Float64Array(width * width);
  values.forEach((value, n) => {
    const singular = Math.sqrt(Math.max(0, value));
    for (let k = 0; k < width; k++) turn[k * width + n] = singular * (vectors[n * width + k] ?? 0);
  });
  return timesSquare(basis, turn, { width });
}
