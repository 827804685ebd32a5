/**
 * The service's figures as OpenMetrics text: names, states and counts, without any id or content.
 * @module
 */
import type { StateCounts } from "../../contracts/task/mod.ts";
import type { HookAnswer } from "../../contracts/wire/mod.ts";

/** Upper bounds of the buckets, in seconds. A request may wait up to a minute for its task. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The distribution of one surface's request durations. */
export interface Duration {
  /** Requests in each bucket, not cumulative; the last bucket has no upper bound. */
  readonly buckets: readonly number[];
  /** Seconds of all requests together. */
  readonly sum: number;
}

/** Durations by surface. */
export interface Durations {
  add(name: string, ms: number): void;
  all(): Readonly<Record<string, Duration>>;
}

/** Makes an empty histogram. */
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

/** Answers to deliveries, by webhook; `""` counts unknown paths. */
export type HookCounts = Readonly<Record<string, Readonly<Record<HookAnswer["result"], number>>>>;
/** Deliveries to peers: tries and final results. */
export type PushCounts = Readonly<Record<"tried" | "delivered" | "givenUp", number>>;

/** Counts of the service's own process. */
export interface ServiceCounts {
  readonly hooks: HookCounts;
  /** Requests of the gateway by surface: `mcp`, `a2a`, `hooks`, `page`. */
  readonly requests?: Readonly<Record<string, number>>;
  /** How long the requests took. */
  readonly durations?: Readonly<Record<string, Duration>>;
  readonly pushes?: PushCounts;
}

/** All figures at one moment. */
export interface MetricsSample {
  readonly state: StateCounts;
  readonly counts: ServiceCounts;
  /** When the service started, milliseconds since 1970. */
  readonly startedAt: number;
  readonly version: string;
}

type Row = readonly [labels: Readonly<Record<string, string>>, value: number, suffix?: string];

const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;

/** The lines of one family; a counter's rows end in `_total`, a histogram's name a suffix. */
function family(
  kind: "gauge" | "counter" | "histogram",
  name: string,
  [help, ...rows]: readonly [string, ...Row[]],
): readonly string[] {
  const lines = rows.map(([labels, value, suffix = kind === "counter" ? "_total" : ""]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}=${quoted(text)}`);
    return `${name}${suffix}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
  });
  const unit = kind === "histogram" ? [`# UNIT ${name} seconds`] : [];
  return [`# TYPE ${name} ${kind}`, ...unit, `# HELP ${name} ${help}`, ...lines];
}

const by = (label: string, counts: Readonly<Record<string, number>> = {}): Row[] =>
  Object.entries(counts).map(([name, value]) => [{ [label]: name }, value]);

function durationRows([surface, { buckets, sum }]: readonly [string, Duration]): readonly Row[] {
  let under = 0;
  const counted = buckets.map((each, n): Row => {
    under += each;
    return [{ surface, le: BOUNDS[n]?.toString() ?? "+Inf" }, under, "_bucket"];
  });
  return [...counted, [{ surface }, sum, "_sum"], [{ surface }, under, "_count"]];
}

/** Writes the figures as OpenMetrics text, with `# EOF` at its end. */
export function metricsText({ state, counts, startedAt, version }: MetricsSample): string {
  const { pushes } = counts;
  const hooks = Object.entries(counts.hooks).flatMap(([webhook, results]) =>
    Object.entries(results).map(([result, value]): Row => [
      { webhook: webhook === "" ? "(no such path)" : webhook, result },
      value,
    ])
  );
  const [tries, ends]: readonly [Row[], Row[]] = pushes === undefined ? [[], []] : [
    [[{}, pushes.tried]],
    [[{ result: "delivered" }, pushes.delivered], [{ result: "given_up" }, pushes.givenUp]],
  ];
  return [
    ...family("gauge", "remit_build", ["The version that runs.", [{ version }, 1]]),
    ...family("gauge", "remit_start_time_seconds", [
      "When the service started.",
      [{}, startedAt / 1_000],
    ]),
    ...family("gauge", "remit_tasks", [
      "Tasks of the kernel by status.",
      ...by("status", state.tasks),
    ]),
    ...family("gauge", "remit_tasks_by_channel", [
      "Tasks of the kernel by where they came in.",
      ...by("channel", state.channels),
    ]),
    ...family("gauge", "remit_questions_open", [
      "Questions that wait for a person.",
      [{}, state.questions],
    ]),
    ...family("gauge", "remit_processes", ["Processes of agents.", [{}, state.processes]]),
    ...family("gauge", "remit_inbox_messages", [
      "Messages that wait, and the newest settled ones, by state.",
      ...by("state", state.inbox),
    ]),
    ...family("gauge", "remit_exchanges", [
      "Exchanges with peers by state.",
      ...by("state", state.exchanges),
    ]),
    ...family("counter", "remit_webhook_deliveries", [
      "Deliveries to webhooks by what was answered.",
      ...hooks,
    ]),
    ...family("counter", "remit_peer_delivery_tries", [
      "Deliveries to peers that were sent off, each try counted.",
      ...tries,
    ]),
    ...family("counter", "remit_peer_deliveries", [
      "Deliveries to peers by what came of them in the end.",
      ...ends,
    ]),
    ...family("counter", "remit_requests", [
      "Requests that the gateway passed on, by surface.",
      ...by("surface", counts.requests),
    ]),
    ...family("histogram", "remit_request_duration_seconds", [
      "How long the requests took that the gateway passed on, by surface.",
      ...Object.entries(counts.durations ?? {}).flatMap(durationRows),
    ]),
    "# EOF",
    "",
  ].join("\n");
}
