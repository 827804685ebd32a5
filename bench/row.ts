/** What a target allows a time at most, or a rate at least, in the row's unit: another machine's speed moves it. */
export type Bound =
  | {
    readonly most: number; /** What is allowed beside, the baseline's own. */
    readonly over?: number;
  }
  | { readonly least: number };

/** One line of the benchmark table: a figure, its baseline from the same run, and whether it is within its target. */
export type Row = {
  /** What was measured, with the shape of the load, for example `port round trip, 16 in flight`. */
  readonly name: string;
  /** The figure, in `unit`. */
  readonly value: number;
  /** Unit of `value` and `baseline`, for example `ms`, `µs`, `calls/s`, `MB`. */
  readonly unit: string;
  /** The same figure of the baseline, in `unit`; 0 when there is none. */
  readonly baseline: number;
  /** `value / baseline`; 0 when there is no baseline. */
  readonly ratio: number;
  /** The target in words, for example `≤ 1.4×` or `≤ 2 ms p99`. */
  readonly target: string;
  /** Whether the target was met in this run. */
  readonly ok: boolean;
  /** Absent where the target is a ratio, a size or a count. */
  readonly bound?: Bound;
  /** How much slower this machine was meanwhile than the one of the targets ({@link slowness}); `bench/main.ts` sets it. */
  readonly slower?: number;
};

/** Whether a row keeps its target as it stands ("met"), or taken at this machine's speed ("scaled"), or not at all. */
export function verdict({ ok, value, bound, slower = 1 }: Row): "met" | "scaled" | "missed" {
  if (ok) return "met";
  if (bound === undefined) return "missed";
  const kept = "least" in bound
    ? value * slower >= bound.least
    : value <= (bound.over ?? 0) + bound.most * slower;
  return kept ? "scaled" : "missed";
}
