/** Durations in words. @module */

const AGE: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A duration in words of one unit, rounded down. Milliseconds. */
export function spanText(ms: number): string {
  const found = AGE.find(([unit]) => ms >= unit) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(ms / found[0]))} ${found[1]}`;
}
