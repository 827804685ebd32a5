/**
 * What a peer of `remit serve` sees: a message to its answer, events of a stream, many streams at once. All of it through
 * real processes: gateway, service, kernel, worker, scripted model.
 *
 * "The same executor" is the same agent (worker, log, scripted model) in a kernel behind a bare server on the official SDK;
 * beside it stands a bare server whose executor answers at once inside its process, which is what serving without agents costs.
 *
 * @module
 */
import { ask, begin, type PeerAt, send, stream, type StreamTimes } from "./a2a/client.ts";
import { LONG, PIECES } from "./a2a/shape.ts";
import { type ServedPeer, startBare, withService } from "./a2a/world.ts";
import { ratioRow, toldRow } from "./mcp/rows.ts";
import { memoryOf } from "./_memory.ts";
import type { Row } from "./row.ts";
import { timed } from "./world.ts";

const ROUNDS = 5;
const SENDS = 25;
const AT_ONCE = 4;
const IN_A_ROW = 5;
const STEPS = 20;
const STREAMS = 200;

/** Rows for `deno task bench`. */
export async function a2aBench(): Promise<Row[]> {
  const rows: Row[] = [];
  await using echo = await startBare("echo");
  await using kernel = await startBare("kernel");
  await withService(async (ours) => {
    for (const each of [echo, kernel, ours]) await warmed(each);
    rows.push(...await messages(ours, { echo, kernel }));
    rows.push(...await steps(ours));
    rows.push(...await events(ours, echo));
    rows.push(...await manyStreams(ours, { echo, kernel }));
  });
  return rows;
}

interface Bare {
  readonly echo: PeerAt & { readonly pids: readonly number[] };
  readonly kernel: PeerAt & { readonly pids: readonly number[] };
}

async function warmed(peer: PeerAt): Promise<void> {
  for (let i = 0; i < 8; i++) await send(peer, "hello");
  await stream(peer, LONG);
}

/** In turns, so that what else the machine does falls on all of them; each when its kernel has workers again. */
async function messages(ours: ServedPeer, { echo, kernel }: Bare): Promise<Row[]> {
  const took = { ours: [] as number[], echo: [] as number[], kernel: [] as number[] };
  for (let round = 0; round < SENDS; round++) {
    const order = [{ peer: ours, into: took.ours }, { peer: kernel, into: took.kernel }];
    for (const { peer, into } of round % 2 === 0 ? order : order.toReversed()) {
      await calm();
      into.push(await timed(() => send(peer, "hello")));
    }
    took.echo.push(await timed(() => send(echo, "hello")));
  }
  const busy = { ours: [] as number[], kernel: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    busy.kernel.push(await pace(kernel));
    await calm();
    busy.ours.push(await pace(ours));
    await calm();
  }
  return [
    ratioRow(
      "A2A message to its answer, against a bare server whose executor is the same agent in a kernel",
      "ms",
      { ours: took.ours, bare: took.kernel },
      1.3,
    ),
    toldRow("the same, against a bare server that answers at once without an agent", "ms", {
      ...{ ours: took.ours, bare: took.echo },
    }),
    toldRow(`A2A messages one after the other, ${AT_ONCE} of them always under way`, "/s", {
      ...{ ours: busy.ours, bare: busy.kernel },
    }),
  ];
}

/** Until kernels have started the workers that they keep. */
async function calm(): Promise<void> {
  // TIMER: nothing tells a peer when a pool is full.
  await new Promise((resolve) => setTimeout(resolve, 400));
}

/** Messages answered a second. */
async function pace(peer: PeerAt): Promise<number> {
  const wall = await timed(() =>
    Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (let i = 0; i < IN_A_ROW; i++) await send(peer, "hello");
    }))
  );
  return AT_ONCE * IN_A_ROW / (wall / 1_000);
}

/** Where a message's time goes: each step is the one before it and something more. */
async function steps(ours: ServedPeer): Promise<Row[]> {
  const many = async (work: () => Promise<unknown>): Promise<number[]> => {
    const took: number[] = [];
    for (let i = 0; i < STEPS; i++) took.push(await timed(work));
    return took;
  };
  const health = new URL("/healthz", ours.url);
  const gateway = await many(async () => await (await fetch(health)).arrayBuffer());
  const card = await many(() => ask(ours, "GetExtendedAgentCard", {}));
  const id = await begin(ours, "hello");
  const read = await many(() => ask(ours, "GetTask", { id }));
  const taken = await many(() => begin(ours, "hello"));
  // What was begun is over when a later one is.
  await send(ours, "hello");
  return [
    toldRow("of it: a request that the gateway answers alone", "ms", { ours: gateway }),
    toldRow("of it: gateway and service (the card; the credential is asked of the service)", "ms", {
      ours: card,
    }),
    toldRow("of it: gateway, service and kernel, nothing written (GetTask)", "ms", { ours: read }),
    toldRow("of it: the message is durable and its task begun (returnImmediately)", "ms", {
      ours: taken,
    }),
  ];
}

async function events(ours: PeerAt, bare: PeerAt): Promise<Row[]> {
  const rate = async (peer: PeerAt): Promise<number> => {
    let { total, events } = await stream(peer, LONG);
    // Pieces that were told before the stream was watched are not told again: on a busy machine that may be all.
    for (let tries = 1; events < PIECES && tries < 5; tries++) {
      ({ total, events } = await stream(peer, LONG));
    }
    if (events < PIECES) throw new Error(`Cannot bench A2A: ${events} events of ${PIECES} came`);
    return events / (total / 1_000);
  };
  const [mine, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await rate(bare));
    mine.push(await rate(ours));
  }
  return [toldRow(
    `A2A stream of one answer in ${PIECES} pieces, from message to end, against a bare server that has them at once`,
    "events/s",
    { ours: mine, bare: theirs },
  )];
}

async function manyStreams(ours: ServedPeer, { echo, kernel }: Bare): Promise<Row[]> {
  const { service, gateway } = ours.pids;
  const [first] = kernel.pids;
  const before = {
    gateway: await memoryOf([gateway]),
    service: await ownMemory(service),
    bare: await ownMemory(first ?? 0),
  };
  const bareEcho = await allOf(echo);
  const bareKernel = await allOf(kernel);
  const mine = await allOf(ours);
  const after = {
    gateway: await memoryOf([gateway]),
    service: await ownMemory(service),
    bare: await ownMemory(first ?? 0),
  };
  const name = `A2A, ${STREAMS} streams at once`;
  return [
    toldRow(`${name}: until all have ended, against the same agents behind a bare server`, "ms", {
      ...{ ours: [mine.wall], bare: [bareKernel.wall] },
    }),
    toldRow(`${name}: the same against a bare server that answers at once`, "ms", {
      ...{ ours: [mine.wall], bare: [bareEcho.wall] },
    }),
    toldRow(`${name}: to the first event, median`, "ms", {
      ...{ ours: mine.firsts, bare: bareKernel.firsts },
    }),
    toldRow(`${name}: memory of the gateway afterwards, against the bare server`, "MB", {
      ...{ ours: [after.gateway.pss], bare: [after.bare] },
    }),
    toldRow(`${name}: memory of the service afterwards, against the bare server`, "MB", {
      ...{ ours: [after.service], bare: [after.bare] },
    }),
    toldRow(`${name}: what gateway and service grew by, against the bare server`, "MB", {
      ours: [after.gateway.pss - before.gateway.pss + after.service - before.service],
      bare: [after.bare - before.bare],
    }),
  ];
}

async function allOf(
  peer: PeerAt,
): Promise<{ readonly wall: number; readonly firsts: readonly number[] }> {
  let times: readonly StreamTimes[] = [];
  const wall = await timed(async () => {
    times = await Promise.all(Array.from({ length: STREAMS }, () => stream(peer, "hello")));
  });
  return { wall, firsts: times.map(({ first }) => first) };
}

/** Proportional memory of one process without those that it started, megabytes. */
async function ownMemory(pid: number): Promise<number> {
  const rollup = await Deno.readTextFile(`/proc/${pid}/smaps_rollup`);
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
}
