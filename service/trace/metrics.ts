/**
 * The service's figures as OpenMetrics text: names, states and counts, without any id or content.
 * @module
 */
import type { HookAnswer, StateCounts } from "../../contracts/mod.ts";

/** Upper bounds of the buckets, seconds. A request that waits for its task takes up to a minute. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Requests of one surface by how long they took. */
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

/** Makes a histogram without any request. */
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
function durationLines(
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

/** Answers to deliveries, by webhook; `""` counts unknown paths. */
export type HookCounts = Readonly<Record<string, Readonly<Record<HookAnswer["result"], number>>>>;
/** Deliveries to peers: each try, and how deliveries ended. */
export type PushCounts = Readonly<Record<"tried" | "delivered" | "givenUp", number>>;

/** What the service's own process counted. */
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

type Row = readonly [labels: Readonly<Record<string, string>>, value: number];

const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;

function family(
  name: string,
  kind: "gauge" | "counter",
  options: { readonly help: string; readonly rows: readonly Row[] },
): readonly string[] {
  const full = kind === "counter" ? `${name}_total` : name;
  const lines = options.rows.map(([labels, value]) => {
    const said = Object.entries(labels).map(([label, text]) => `${label}=${quoted(text)}`).join(
      ",",
    );
    return `${full}${said === "" ? "" : `{${said}}`} ${value}`;
  });
  return [`# TYPE ${name} ${kind}`, `# HELP ${name} ${options.help}`, ...lines];
}

const by = (label: string, counts: Readonly<Record<string, number>> = {}): Row[] =>
  Object.entries(counts).map(([name, value]) => [{ [label]: name }, value]);

/** Writes the figures as OpenMetrics text, with `# EOF` at its end. */
export function metricsText({ state, counts, startedAt, version }: MetricsSample): string {
  const { pushes } = counts;
  const hooks = Object.entries(counts.hooks).flatMap(([webhook, results]) =>
    Object.entries(results).map(([result, value]): Row => [
      { webhook: webhook === "" ? "(no such path)" : webhook, result },
      value,
    ])
  );
  return [
    ...family("remit_build", "gauge", { help: "The version that runs.", rows: [[{ version }, 1]] }),
    ...family("remit_start_time_seconds", "gauge", {
      help: "When the service started.",
      rows: [[{}, startedAt / 1_000]],
    }),
    ...family("remit_tasks", "gauge", {
      help: "Tasks of the kernel by status.",
      rows: by("status", state.tasks),
    }),
    ...family("remit_tasks_by_channel", "gauge", {
      help: "Tasks of the kernel by where they came in.",
      rows: by("channel", state.channels),
    }),
    ...family("remit_questions_open", "gauge", {
      help: "Questions that wait for a person.",
      rows: [[{}, state.questions]],
    }),
    ...family("remit_processes", "gauge", {
      help: "Processes of agents.",
      rows: [[{}, state.processes]],
    }),
    ...family("remit_inbox_messages", "gauge", {
      help: "Messages that wait, and the newest settled ones, by state.",
      rows: by("state", state.inbox),
    }),
    ...family("remit_exchanges", "gauge", {
      help: "Exchanges with peers by state.",
      rows: by("state", state.exchanges),
    }),
    ...family("remit_webhook_deliveries", "counter", {
      help: "Deliveries to webhooks by what was answered.",
      rows: hooks,
    }),
    ...family("remit_peer_delivery_tries", "counter", {
      help: "Deliveries to peers that were sent off, each try counted.",
      rows: pushes === undefined ? [] : [[{}, pushes.tried]],
    }),
    ...family("remit_peer_deliveries", "counter", {
      help: "Deliveries to peers by what came of them in the end.",
      rows: pushes === undefined
        ? []
        : [[{ result: "delivered" }, pushes.delivered], [{ result: "given_up" }, pushes.givenUp]],
    }),
    ...family("remit_requests", "counter", {
      help: "Requests that the gateway passed on, by surface.",
      rows: by("surface", counts.requests),
    }),
    ...durationLines("remit_request_duration_seconds", {
      help: "How long the requests took that the gateway passed on, by surface.",
      ...{ label: "surface", durations: counts.durations ?? {} },
    }),
    "# EOF",
    "",
  ].join("\n");
}
