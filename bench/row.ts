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
};
