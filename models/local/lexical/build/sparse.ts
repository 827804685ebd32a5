/** Matrices that are mostly zero, by rows. @module */

/** A matrix of `rows` × `columns`: row r has `values[n]` in column `at[n]` for n from `starts[r]` to `starts[r + 1]`. */
export interface Sparse {
  readonly rows: number;
  readonly columns: number;
  readonly starts: Int32Array;
  readonly at: Int32Array;
  readonly values: Float32Array;
}

/** The same matrix with rows and columns changed about. */
export function transposed({ rows, columns, starts, at, values }: Sparse): Sparse {
  const first = new Int32Array(columns + 1);
  for (const column of at) first[column + 1] = (first[column + 1] ?? 0) + 1;
  for (let n = 0; n < columns; n++) first[n + 1] = (first[n + 1] ?? 0) + (first[n] ?? 0);
  const next = first.slice();
  const turned = { at: new Int32Array(at.length), values: new Float32Array(at.length) };
  for (let row = 0; row < rows; row++) {
    for (let n = starts[row] ?? 0; n < (starts[row + 1] ?? 0); n++) {
      const column = at[n] ?? 0;
      const place = next[column] ?? 0;
      next[column] = place + 1;
      turned.at[place] = row;
      turned.values[place] = values[n] ?? 0;
    }
  }
  return { rows: columns, columns: rows, starts: first, ...turned };
}

/** The product with a matrix of `columns` × `width` numbers, row by row. */
export function times(
  { rows, starts, at, values }: Sparse,
  dense: Float32Array,
  width: number,
): Float32Array {
  const product = new Float32Array(rows * width);
  const sum = new Float64Array(width);
  for (let row = 0; row < rows; row++) {
    sum.fill(0);
    for (let n = starts[row] ?? 0; n < (starts[row + 1] ?? 0); n++) {
      const value = values[n] ?? 0;
      const from = (at[n] ?? 0) * width;
      for (let k = 0; k < width; k++) sum[k] = (sum[k] ?? 0) + value * (dense[from + k] ?? 0);
    }
    product.set(sum, row * width);
  }
  return product;
}
