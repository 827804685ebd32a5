/** How long requests took, as a histogram in OpenMetrics' words. @module */

/** Upper bounds of the buckets, seconds. A request that waits for its task takes up to a minute. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What was measured under one name. */
export interface Duration {
  /** Requests of each bucket, not added up; the last is beyond all bounds. */
  readonly buckets: readonly number[];
  /** Seconds, of all together. */
  readonly sum: number;
}

/** Durations by name. */
export interface Durations {
  add(name: string, ms: number): void;
  all(): Readonly<Record<string, Duration>>;
}

/** Makes an empty one. */
export function makeDurations(): Durations {
  const known = new Map<string, { readonly buckets: number[]; sum: number }>();
  return Object.freeze<Durations>({
    add(name, ms): void {
      const have = known.get(name) ?? { buckets: Array<number>(BOUNDS.length + 1).fill(0), sum: 0 };
      known.set(name, have);
      const seconds = Math.max(0, ms) / 1_000;
      const found = BOUNDS.findIndex((bound) => seconds <= bound);
      const at = found === -1 ? BOUNDS.length : found;
      have.buckets[at] = (have.buckets[at] ?? 0) + 1;
      have.sum += seconds;
    },
    all: () =>
      Object.fromEntries([...known].map(([name, { buckets, sum }]) => [
        name,
        { buckets: [...buckets], sum },
      ])),
  });
}

/** The lines of one family; `label` says what its names are. */
export function durationLines(
  family: string,
  { help, label, durations }: {
    readonly help: string;
    readonly label: string;
    readonly durations: Readonly<Record<string, Duration>>;
  },
): readonly string[] {
  const lines = Object.entries(durations).flatMap(([name, { buckets, sum }]) => {
    const of = `${label}="${name}"`;
    let under = 0;
    const counted = buckets.map((each, n) => {
      under += each;
      return `${family}_bucket{${of},le="${BOUNDS[n]?.toString() ?? "+Inf"}"} ${under}`;
    });
    return [...counted, `${family}_sum{${of}} ${sum}`, `${family}_count{${of}} ${under}`];
  });
  return [
    `# TYPE ${family} histogram`,
    `# UNIT ${family} seconds`,
    `# HELP ${family} ${help}`,
    ...lines,
  ];
}
