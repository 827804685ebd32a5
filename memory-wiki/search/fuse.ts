/** Reciprocal rank fusion: lists of the same things become one. Cormack 2009. @module */

/** One list, best first, and what it counts. */
export interface Ranked {
  readonly keys: readonly string[];
  readonly weight: number;
}

/** Scores of all keys, higher is better: the sum of each list's weight over rank + `smooth`. */
export function fuse(lists: readonly Ranked[], smooth: number): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  for (const { keys, weight } of lists) {
    keys.forEach((key, n) => {
      scores.set(key, (scores.get(key) ?? 0) + weight / (smooth + n + 1));
    });
  }
  return scores;
}

/** Keys with their scores, best first; equal ones by their key, so that no order of arrival shows. */
export function inOrder(
  scores: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return [...scores].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : a > b ? 1 : 0));
}
