/** Charts models' costs over time: bars of text, each split into the groups of the costs. @module */
const DAY_MS = 24 * 60 * 60_000;
/** Over more days than these, a bar is a month. */
const MAX_DAYS = 62;
/** Characters of the parts of a bar; the last one shows all further series together. */
const PARTS = ["█", "▓", "▒", "░"];
const OTHERS = "others";
const MAX_CELLS = 60, MIN_CELLS = 10;

/** A cost that {@link costChart} counts. */
export interface ChartedCost {
  /** UTC: `2026-11-27`. */
  readonly day: string;
  readonly money: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The numbers of a chart: each series has one value for each time. */
export interface CostChart {
  readonly of: "USD" | "tokens";
  /** UTC, ascending without gaps: days (`2026-11-27`) or months (`2026-11`). */
  readonly times: readonly string[];
  /** The most expensive first. */
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/**
 * Sums costs for each day or month from the first of them until `now` (milliseconds since 1970). Where nothing cost
 * money, as with models of this machine, the chart counts tokens.
 */
export function costChart<Row extends ChartedCost>(
  rows: readonly Row[],
  { now, nameOf }: {
    readonly now: number;
    readonly nameOf: (row: Row) => string;
  },
): CostChart {
  const first = rows.reduce((earliest, { day }) => day < earliest ? day : earliest, dayOf(now));
  const days: string[] = [];
  for (let at = Date.parse(first); dayOf(at) <= dayOf(now); at += DAY_MS) days.push(dayOf(at));
  const timeOf = (day: string): string => days.length > MAX_DAYS ? day.slice(0, 7) : day;
  const times = [...new Set(days.map(timeOf))];
  const of = rows.some(({ money }) => money > 0) ? "USD" : "tokens";
  const series = new Map<string, number[]>();
  for (const row of rows) {
    const name = nameOf(row);
    const values = series.get(name) ?? times.map(() => 0);
    series.set(name, values);
    const at = times.indexOf(timeOf(row.day));
    values[at] = (values[at] ?? 0) +
      (of === "USD" ? row.money : row.inputTokens + row.outputTokens);
  }
  const all = [...series].map(([name, values]) => ({ name, values }));
  return { of, times, series: all.sort((a, b) => sumOf(b.values) - sumOf(a.values)) };
}

/** A chart as lines of text: a bar for each time, then the legend. `shown` makes a name safe to show. */
export function chartLines(
  chart: CostChart,
  { width, shown }: { readonly width: number; readonly shown: (name: string) => string },
): readonly string[] {
  const series = fewer(chart.series);
  const sums = chart.times.map((_, at) => sumOf(series.map(({ values }) => values[at] ?? 0)));
  const max = Math.max(...sums);
  if (!(max > 0)) return [];
  const amount = (value: number): string =>
    chart.of === "USD" ? `${value.toFixed(4)} USD` : `${value} tokens`;
  const longest = Math.max(...sums.map((sum) => amount(sum).length));
  const room = width - (chart.times[0]?.length ?? 0) - longest - 4;
  const cells = Math.max(MIN_CELLS, Math.min(MAX_CELLS, room));
  const bars = chart.times.map((time, at) => {
    let sum = 0, drawn = 0;
    const parts = series.map(({ values }, n) => {
      sum += values[at] ?? 0;
      const to = Math.round(sum / max * cells), part = (PARTS[n] ?? "").repeat(to - drawn);
      drawn = to;
      return part;
    });
    return `${time}  ${parts.join("").padEnd(cells)}  ${amount(sums[at] ?? 0).padStart(longest)}`;
  });
  const legend = series.map(({ name, values }, n) =>
    `${PARTS[n] ?? ""} ${shown(name)}: ${amount(sumOf(values))}`
  );
  return series.length > 1 ? [...bars, ...legend] : bars;
}

/** At most as many series as there are characters for them; the last one sums up the rest. */
function fewer(series: CostChart["series"]): CostChart["series"] {
  if (series.length <= PARTS.length) return series;
  const rest = series.slice(PARTS.length - 1);
  const values = (rest[0]?.values ?? []).map((_, at) =>
    sumOf(rest.map((each) => each.values[at] ?? 0))
  );
  return [...series.slice(0, PARTS.length - 1), { name: OTHERS, values }];
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
