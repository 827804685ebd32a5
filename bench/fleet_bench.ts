/**
 * The log on PostgreSQL against a bare commit of one row on the same server, measured in turns, and how fast kernels take
 * work that waits. The server runs as tests have it: an ordinary user's, over a socket, every commit synced.
 * @module
 */
import { LOG_POWERS, makeSigner, openLog } from "../broker/audit/mod.ts";
import type { Port } from "../contracts/base/port.ts";
import { STORE_PORT_LIMITS } from "../contracts/wire/wire_store.ts";
import { makePort } from "../port/mod.ts";
import { openEnd } from "../store/_fixture/fleet.ts";
import { startPostgres } from "../store/_fixture/postgres_powers.ts";
import { type Engine, openEngine } from "../store/postgres/engine_powers.ts";
import { openRemoteStore } from "../store/postgres/mod.ts";
import { makeStoreService } from "../store/postgres/service.ts";
import { median } from "./quantile.ts";
import { atLeast, atMost, type Row, shown } from "./row.ts";

/** Appends of one figure, and in how many turns with the baseline. */
const APPENDS = 600, ROUNDS = 20;
/** Callers at once whose appends share commits. */
const CALLERS = 32;
/** Pieces of work, and kernels that take them. */
const WORK = 1_000, KERNELS = 4, AT_ONCE = 8;

/** The bare commit: one row of 200 characters, one synced transaction. */
async function makeProbe(engine: Engine): Promise<() => Promise<number>> {
  await engine.script(
    "CREATE TABLE public.probe(a bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, b text)",
  );
  const text = "x".repeat(200);
  return async () => {
    const start = performance.now();
    await engine.write("INSERT INTO public.probe(b) VALUES ($1)", [text]);
    return performance.now() - start;
  };
}

/** A store and its service at the two ends of a port in this process. */
function portTo(): { readonly port: Port; close(): Promise<void> } {
  const there: Port = makePort({
    write: (bytes) => here.feed(bytes),
    handler: { ask: (op, body) => service.ask(op, body), tell: () => undefined },
    ...{ limits: STORE_PORT_LIMITS, trusted: true },
  });
  const service = makeStoreService({ open: openEngine, tell: () => undefined });
  const here: Port = makePort({
    write: (bytes) => there.feed(bytes),
    handler: { ask: () => null, tell: () => undefined },
    limits: STORE_PORT_LIMITS,
  });
  return { port: here, close: () => service.close() };
}

/** Rows of the log on PostgreSQL. */
export async function fleetBench(): Promise<Row[]> {
  await using server = await startPostgres();
  const url = await server.database("bench");
  const owner = openEngine(url);
  const { port, close } = portTo();
  try {
    const probe = await makeProbe(owner);
    const store = await openRemoteStore(port, {
      url,
      kernel: "bench",
      leaseMs: 60_000,
      machine: "m",
    });
    const log = await openLog({ store, signer: makeSigner(LOG_POWERS.random(32)), ...LOG_POWERS });
    let tasks = 0;
    const append = async (count: number): Promise<readonly number[]> => {
      const took: number[] = [];
      const task = `t${(tasks++).toString(36).padStart(12, "0")}`;
      for (let i = 0; i < count; i++) {
        const start = performance.now();
        await log.append(task, [{
          kind: "outcome",
          body: { call: `call_${i}`, ms: 3, outcome: "ok" },
        }]);
        took.push(performance.now() - start);
      }
      return took;
    };
    // What is prepared once is prepared before.
    await append(50);
    for (let i = 0; i < 50; i++) await probe();
    const alone: number[] = [], bare: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < APPENDS / ROUNDS; i++) bare.push(await probe());
      alone.push(...await append(APPENDS / ROUNDS));
    }
    const began = performance.now();
    await Promise.all(Array.from({ length: CALLERS }, () => append(APPENDS / CALLERS)));
    const rate = APPENDS / (performance.now() - began) * 1_000;
    const [value, baseline] = [median(alone), median(bare)];
    return [
      atMost(
        { name: "PostgreSQL: durable append, one caller, median", value, unit: "ms", baseline },
        1.5,
        "a bare one-row commit on the same server",
      ),
      atLeast(
        {
          name: `PostgreSQL: durable appends, ${CALLERS} callers`,
          value: rate,
          unit: "events/s",
          baseline: 1_000 / baseline,
        },
        2,
        "bare commits one after the other",
      ),
      ...await takeWork(url),
    ];
  } finally {
    await close();
    await owner.close();
  }
}

/** Work that waits, taken by one kernel and by several. */
async function takeWork(url: string): Promise<readonly Row[]> {
  const ends = await Promise.all(
    Array.from({ length: KERNELS }, (_, i) => openEnd(url, `k${i}`)),
  );
  let made = 0;
  const fill = async (): Promise<void> => {
    const [first] = ends;
    for (let i = 0; i < WORK; i++) {
      const task = `tw${(made++).toString(36).padStart(11, "0")}`;
      await first?.ask({ kind: "put", task, request: "{}", mounts: [] });
    }
  };
  const drain = async (some: typeof ends): Promise<number> => {
    const began = performance.now();
    await Promise.all(some.map(async (end) => {
      for (let more = AT_ONCE; more > 0;) {
        const taken = await end.ask({ kind: "take", max: AT_ONCE });
        more = Array.isArray(taken) ? taken.length : 0;
      }
    }));
    return WORK / (performance.now() - began) * 1_000;
  };
  try {
    await fill();
    const one = await drain(ends.slice(0, 1));
    await fill();
    const several = await drain(ends);
    return [
      shown({
        name: `work taken from the queue, ${AT_ONCE} at a time, ${KERNELS} kernels against one`,
        ...{ value: several, unit: "tasks/s", baseline: one },
      }),
    ];
  } finally {
    for (const end of ends) await end.close();
  }
}
