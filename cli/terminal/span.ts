/** Spans of time in words. @module */

const AGE: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A span in words of one unit. Milliseconds. */
export function spanText(ms: number): string {
  const found = AGE.find(([unit]) => ms >= unit) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(ms / found[0]))} ${found[1]}`;
}
