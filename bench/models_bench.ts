/**
 * First token and whole answer through a real model service, against a bare client of the same server
 * in the same run. Issue 4, "How well".
 * @module
 */
import { makeBenchModels } from "./models/service.ts";
import {
  bareClient,
  sdkClient,
  serviceClient,
  type StreamClient,
} from "./models/stream_clients.ts";
import { DELTAS } from "./models/stream_shape.ts";
import { startLineProcess } from "./_line_process.ts";
import { median, quantile } from "./quantile.ts";
import type { Row } from "./row.ts";

/** Streams at once, and rounds of them. */
const LOADS = [[1, 8], [10, 3], [50, 6]] as const;
/** Milliseconds that may be added to the first token, and the part that may be added to the whole. */
const FIRST_MS = 10;
const TOTAL_SHARE = 0.03;

interface Figures {
  readonly first: number;
  /** The first text that came last but one in a hundred. */
  readonly slow: number;
  readonly total: number;
}

/** About three minutes: the answer takes three seconds, as a provider's does. */
export async function streamBench(): Promise<Row[]> {
  await using server = await startLineProcess([
    new URL("./models/stream_server.ts", import.meta.url).pathname,
  ]);
  const { greeting: origin } = server;
  await using models = await makeBenchModels(["remote"]);
  const service = await serviceClient(models.services, origin);
  const clients = [bareClient(origin), service, sdkClient(origin)];
  for (const client of clients) await many(client, 2);
  const rows: Row[] = [];
  for (const [streams, rounds] of LOADS) {
    const heard: Figures[][] = clients.map(() => []);
    for (let round = 0; round < rounds; round++) {
      // In turns, so that a busy machine is as busy for each of them.
      for (const [at, client] of clients.entries()) heard[at]?.push(await many(client, streams));
    }
    const [bare = [], ours = [], sdk = []] = heard;
    rows.push(...rowsOf(`${streams} ${streams === 1 ? "stream" : "streams"}`, { bare, ours, sdk }));
  }
  return rows;
}

async function many(client: StreamClient, streams: number): Promise<Figures> {
  const times = await Promise.all(Array.from({ length: streams }, client));
  if (times.some(({ deltas }) => deltas === 0 || deltas > DELTAS)) {
    throw new Error(`a stream of ${DELTAS} deltas had ${times.map(({ deltas }) => deltas)}`);
  }
  const first = times.map((each) => each.first);
  return {
    first: median(first),
    slow: quantile(first, 0.99),
    total: median(times.map((each) => each.total)),
  };
}

function rowsOf(
  load: string,
  heard: Readonly<Record<"bare" | "ours" | "sdk", readonly Figures[]>>,
): Row[] {
  const middle = (figures: readonly Figures[], pick: (each: Figures) => number): number =>
    median(figures.map(pick));
  const row = (
    name: string,
    pick: (each: Figures) => number,
    { target, most, later }: {
      readonly target: string;
      readonly most: (baseline: number) => number;
      /** Milliseconds more than the baseline, where the target is one of time. */
      readonly later?: number;
    },
  ): Row => {
    const [value, baseline] = [middle(heard.ours, pick), middle(heard.bare, pick)];
    const ok = value <= most(baseline);
    return {
      ...{ name, value, unit: "ms", baseline, ratio: value / baseline, target, ok },
      ...(later === undefined ? {} : { bound: { most: later, over: baseline } }),
    };
  };
  const shown = { target: "shown", most: () => Infinity };
  const added = {
    target: `≤ ${FIRST_MS} ms more`,
    most: (bare: number) => bare + FIRST_MS,
    later: FIRST_MS,
  };
  const whole = {
    target: `≤ ${100 * TOTAL_SHARE} % more`,
    most: (bare: number) => bare * (1 + TOTAL_SHARE),
  };
  const sdk = middle(heard.sdk, ({ first }) => first);
  const bare = middle(heard.bare, ({ first }) => first);
  return [
    row(`first token, ${load}, against a bare client`, ({ first }) => first, added),
    row(`first token, ${load}, the slowest`, ({ slow }) => slow, shown),
    row(`whole answer, ${load}, against a bare client`, ({ total }) => total, whole),
    {
      name: `first token, ${load}: the AI SDK alone`,
      ...{ value: sdk, unit: "ms", baseline: bare, ratio: sdk / bare, target: "shown", ok: true },
    },
  ];
}
