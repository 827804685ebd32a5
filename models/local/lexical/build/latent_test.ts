import assert from "node:assert/strict";
import fc from "fast-check";
import { innerProducts, inverseRoot, timesSquare } from "./dense.ts";
import { eigenOf } from "./eigen.ts";
import { latent } from "./latent.ts";
import { ln, signs } from "./numbers.ts";
import { type Sparse, times, transposed } from "./sparse.ts";

/** Row by row, zeros left out. */
function sparse(rows: readonly (readonly number[])[]): Sparse {
  const entries = rows.map((row) => [...row.entries()].filter(([, value]) => value !== 0));
  const flat = entries.flat();
  const starts = [0];
  for (const row of entries) starts.push((starts.at(-1) ?? 0) + row.length);
  return {
    rows: rows.length,
    columns: rows[0]?.length ?? 0,
    starts: Int32Array.from(starts),
    at: Int32Array.from(flat, ([column]) => column),
    values: Float32Array.from(flat, ([, value]) => value),
  };
}

/** Plain numbers in which a whole matrix of rank `rank` can be written. */
function lowRank(rows: number, columns: number, rank: number): number[][] {
  const [a, b] = [signs(rows * rank, 3), signs(columns * rank, 5)];
  return Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (_, j) => {
      let sum = 0;
      for (let k = 0; k < rank; k++) {
        sum += (k + 1) * (a[i * rank + k] ?? 0) * (b[j * rank + k] ?? 0);
      }
      return sum;
    }));
}

const close = (a: number, b: number, within = 1e-4): void =>
  assert.ok(Math.abs(a - b) <= within * (1 + Math.abs(b)), `${a} is not ${b}`);

Deno.test("the logarithm agrees with the engine's to fourteen digits", () => {
  fc.assert(fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (x) => {
    assert.ok(Math.abs(ln(x) - Math.log(x)) <= 1e-14 * (1 + Math.abs(Math.log(x))) * 4);
  }));
});

Deno.test("sparse products are what the plain ones are", () => {
  const rows = [[1, 0, 2], [0, 0, 0], [0, -3, 0.5], [4, 1, 0]];
  const matrix = sparse(rows);
  const dense = new Float32Array([1, 2, 3, 4, 5, 6]);
  assert.deepEqual([...times(matrix, dense, 2)], [11, 14, 0, 0, -6.5, -9, 7, 12]);
  const back = transposed(transposed(matrix));
  assert.deepEqual(back, matrix);
  assert.deepEqual([...times(transposed(matrix), signs(8, 1).fill(1), 2)], [
    5,
    5,
    -2,
    -2,
    2.5,
    2.5,
  ]);
});

Deno.test("columns become orthonormal, also where rows do not come in fours", () => {
  const width = 8;
  const raw = Float32Array.from({ length: 35 * width }, (_, n) => ((n * 7919) % 101) / 50 - 1);
  const basis = timesSquare(raw, inverseRoot(innerProducts(raw, raw, width), width), {
    width,
    upper: true,
  });
  innerProducts(basis, basis, width).forEach((each, n) => {
    close(each, n % (width + 1) === 0 ? 1 : 0);
  });
});

Deno.test("columns that are too alike are an error, not noise", () => {
  const raw = new Float32Array(40 * 8).fill(1);
  assert.throws(() => inverseRoot(innerProducts(raw, raw, 8), 8), RangeError);
});

Deno.test("eigenvectors, stretched by their values, give the matrix again", () => {
  const width = 12;
  const half = Float64Array.from({ length: width * width }, (_, n) => ((n * 37) % 19) - 9);
  const matrix = half.map((each, n) =>
    each + (half[(n % width) * width + Math.floor(n / width)] ?? 0)
  );
  const { values, vectors } = eigenOf(matrix, width);
  assert.deepEqual(values, values.toSorted((a, b) => b - a));
  matrix.forEach((each, n) => {
    let sum = 0;
    for (let k = 0; k < width; k++) {
      const of = (i: number): number => vectors[k * width + i] ?? 0;
      sum += (values[k] ?? 0) * of(Math.floor(n / width)) * of(n % width);
    }
    close(sum, each, 1e-9);
  });
});

Deno.test("the main directions keep all inner products of a matrix that has no others", () => {
  const rows = lowRank(40, 30, 8);
  const made = latent(sparse(rows), 8);
  const row = (n: number): Float32Array => made.subarray(n * 8, (n + 1) * 8);
  for (let i = 0; i < 40; i += 7) {
    for (let j = 0; j < 40; j += 5) {
      const wanted = rows[i]?.reduce((sum, each, k) => sum + each * (rows[j]?.[k] ?? 0), 0) ?? 0;
      close(row(i).reduce((sum, each, k) => sum + each * (row(j)[k] ?? 0), 0), wanted, 1e-3);
    }
  }
  assert.deepEqual(latent(sparse(rows), 8), made);
});
