/**
 * First token and whole answer through a real model service, against a bare client of the same server
 * in the same run.
 * @module
 */
import { makeBenchModels } from "./models/service.ts";
import {
  bareClient,
  sdkClient,
  serviceClient,
  type StreamClient,
} from "./models/stream_clients.ts";
import { DELTAS, FEW_DELTAS } from "./models/stream_shape.ts";
import { startLineProcess } from "./_line_process.ts";
import { median, quantile } from "./quantile.ts";
import { type Row, shown } from "./row.ts";
import { bareStart } from "./yardstick.ts";

/** Streams at once, and rounds of them for the whole answer. */
const LOADS = [[1, 4], [10, 3], [50, 3]] as const;
/** Rounds for the first token: a burst of fifty varies by as much as it takes. */
const FIRST_ROUNDS = 30;
/** Parts of a bare start that may be added to the first token, and the part that may be added to the whole. */
const FIRST_STARTS = 0.75;
const TOTAL_SHARE = 0.03;

interface Figures {
  readonly first: number;
  /** The first text that came last but one in a hundred. */
  readonly slow: number;
  readonly total: number;
}

/** About three minutes: the whole answer takes three seconds, as a provider's does. */
export async function streamBench(): Promise<Row[]> {
  await using models = await makeBenchModels(["remote"]);
  const server = new URL("./models/stream_server.ts", import.meta.url).pathname;
  await using brief = await startLineProcess([server, String(FEW_DELTAS)]);
  await using whole = await startLineProcess([server, String(DELTAS)]);
  const clientsOf = async (origin: string): Promise<readonly StreamClient[]> => {
    const service = await serviceClient(models.services, origin);
    const clients = [bareClient(origin), service, sdkClient(origin)];
    for (const client of clients) await many(client, 2);
    return clients;
  };
  const begun = await clientsOf(brief.greeting);
  const ended = await clientsOf(whole.greeting);
  const rows: Row[] = [];
  const start = await bareStart();
  for (const [streams, rounds] of LOADS) {
    const load = `${streams} ${streams === 1 ? "stream" : "streams"}`;
    rows.push(...firstRows(load, await inTurns(begun, streams, FIRST_ROUNDS), start));
    rows.push(wholeRow(load, await inTurns(ended, streams, rounds)));
  }
  return rows;
}

type Heard = Readonly<Record<"bare" | "ours" | "sdk", readonly Figures[]>>;

/** In turns, so that a busy machine is as busy for each of them. */
async function inTurns(
  clients: readonly StreamClient[],
  streams: number,
  rounds: number,
): Promise<Heard> {
  const heard: Figures[][] = clients.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, client] of clients.entries()) heard[at]?.push(await many(client, streams));
  }
  const [bare = [], ours = [], sdk = []] = heard;
  return { bare, ours, sdk };
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

const middle = (figures: readonly Figures[], pick: (each: Figures) => number): number =>
  median(figures.map(pick));

function firstRows(load: string, { bare, ours, sdk }: Heard, start: number): Row[] {
  const first = ({ first }: Figures): number => first;
  const [value, baseline] = [middle(ours, first), middle(bare, first)];
  const told = (name: string, value: number, baseline: number): Row =>
    shown({ name, value, unit: "ms", baseline });
  return [
    {
      ...told(`first token, ${load}, against a bare client`, value, baseline),
      target: `≤ ${FIRST_STARTS} of a bare start more`,
      ok: value <= baseline + FIRST_STARTS * start,
    },
    told(
      `first token, ${load}, the slowest`,
      middle(ours, ({ slow }) => slow),
      middle(bare, ({ slow }) => slow),
    ),
    told(`first token, ${load}: the AI SDK alone`, middle(sdk, first), baseline),
  ];
}

function wholeRow(load: string, { bare, ours }: Heard): Row {
  const total = ({ total }: Figures): number => total;
  const [value, baseline] = [middle(ours, total), middle(bare, total)];
  return {
    ...{ name: `whole answer, ${load}, against a bare client`, value, unit: "ms", baseline },
    ...{ ratio: value / baseline, target: `≤ ${100 * TOTAL_SHARE} % more` },
    ok: value <= baseline * (1 + TOTAL_SHARE),
  };
}
