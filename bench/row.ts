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
  /** The target in words, for example `≤ 1.4× a bare start`: a time or a rate is judged by its ratio alone. */
  readonly target: string;
  /** Whether the target was met in this run. */
  readonly ok: boolean;
};

/** What was measured: the figure and its baseline in one unit. */
export type Figure = Pick<Row, "name" | "value" | "unit" | "baseline">;

/** A figure without a target. */
export function shown(figure: Figure): Row {
  const { value, baseline } = figure;
  return { ...figure, ratio: baseline === 0 ? 0 : value / baseline, target: "shown", ok: true };
}

/** A figure that is at most `most` times its baseline; `of` says what that is. */
export function atMost(figure: Figure, most: number, of: string): Row {
  const row = shown(figure);
  return { ...row, target: `≤ ${most}× ${of}`, ok: row.ratio <= most };
}

/** A rate that is at least `least` times its baseline. */
export function atLeast(figure: Figure, least: number, of: string): Row {
  const row = shown(figure);
  return { ...row, target: `≥ ${least}× ${of}`, ok: row.ratio >= least };
}
