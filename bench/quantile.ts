/** Where a part of all measured values lies. @module */

/** The value below which the part `p` (0 to 1) of all values lies; NaN when there are none. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? NaN;
}

/** The value in the middle; NaN when there are none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
