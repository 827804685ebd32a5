/** Durations as text. @module */

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A duration of `ms` milliseconds as a number and a unit, rounded down. */
export function spanText(ms: number): string {
  const found = UNITS.find(([unit]) => ms >= unit) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(ms / found[0]))} ${found[1]}`;
}
