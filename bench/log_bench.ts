/**
 * Durable append of a call (intent, then outcome) against the disk's own one-row commit, measured
 * in the same run, and the bytes that a call leaves.
 * @module
 */
import { DatabaseSync } from "node:sqlite";
import { LOG_POWERS, makeSigner, openLog } from "../broker/audit/mod.ts";
import type { NewEvent } from "../contracts/task/event.ts";
import type { EventLog } from "../contracts/task/store.ts";
import { openSqliteStore } from "../store/sqlite/mod.ts";
import { median } from "./quantile.ts";
import { atMost, type Row, shown } from "./row.ts";

const LOADS = [
  // A call alone is two commits, and as long as one more for its signature, its JSON and the hop to the writer.
  { callers: 1, calls: 400, most: 3 },
  { callers: 16, calls: 2_400, most: 6 },
  { callers: 100, calls: 6_000, most: 20 },
] as const;
const MAX_BYTES = 1_200;
const ROUNDS = 20;

const HASH = "5f".repeat(32);

/** An intent as the gate writes it: every public field of an audit record that is known by then. */
function intent(call: string): NewEvent {
  return {
    kind: "intent",
    body: {
      actor: "operator",
      argumentsHash: HASH,
      backend: "scripted",
      call,
      colour: "YELLOW",
      conversation: "main",
      decision: "auto",
      descriptor: HASH,
      effect: "read",
      label: "internal",
      lease: "l00000000000a",
      mode: "auto",
      model: "demo",
      pid: 2,
      principal: "operator",
      rule: "built-in: read",
      session: "s00000000000a",
      tool: "file_read",
      turn: 3,
    },
  };
}

function outcome(call: string): NewEvent {
  return {
    kind: "outcome",
    body: { call, ms: 3, outcome: "ok", resultBytes: 812, resultHash: HASH },
  };
}

/** The disk's own cost: one row, one synced commit, milliseconds. */
function makeCommitProbe(path: string): { readonly measure: () => number } & Disposable {
  const db = new DatabaseSync(path);
  db.exec(
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(a INTEGER PRIMARY KEY, b)",
  );
  const insert = db.prepare("INSERT INTO t(b) VALUES(?)");
  const text = "x".repeat(200);
  // Until its write-ahead log is written over for the first time: growing a file costs more.
  for (let i = 0; i < 1_200; i++) insert.run(text);
  return {
    measure(): number {
      const start = performance.now();
      insert.run(text);
      return performance.now() - start;
    },
    [Symbol.dispose]: () => db.close(),
  };
}

/** Calls of one task: the index of chains costs by the pages it touches, so chains must be as real. */
const CALLS_A_TASK = 10;
let tasks = 0;

/** Latencies of `calls` durable calls shared by `callers`, milliseconds. */
async function load(
  log: EventLog,
  { callers, calls }: { readonly callers: number; readonly calls: number },
): Promise<readonly number[]> {
  const latencies: number[] = [];
  let left = calls;
  await Promise.all(Array.from({ length: callers }, async () => {
    let task = "";
    for (let own = 0; left-- > 0; own++) {
      if (own % CALLS_A_TASK === 0) task = `t${(tasks++).toString(36).padStart(12, "0")}`;
      const call = `call_${left}`;
      const start = performance.now();
      await log.append(task, [intent(call)]);
      await log.append(task, [outcome(call)]);
      latencies.push(performance.now() - start);
    }
  }));
  return latencies;
}

/** The rows of the log, in order of load; last the bytes a call, at one caller. */
export async function logBench(): Promise<Row[]> {
  const dir = await Deno.makeTempDir({ prefix: "remit-bench-" });
  const rows: Row[] = [];
  try {
    using probe = makeCommitProbe(`${dir}/probe.db`);
    const signer = makeSigner(LOG_POWERS.random(32));
    for (const { callers, calls, most } of LOADS) {
      const store = openSqliteStore({ path: `${dir}/log${callers}.db` });
      const log = await openLog({ store, signer, ...LOG_POWERS });
      await load(log, { callers, calls });
      const baselines: number[] = [];
      const latencies: number[] = [];
      // In turns, so that both meet the same weather on a shared disk.
      for (let round = 0; round < ROUNDS; round++) {
        for (let i = 0; i < 20; i++) baselines.push(probe.measure());
        latencies.push(...await load(log, { callers, calls: calls / ROUNDS }));
      }
      await store.close();
      const [value, baseline] = [median(latencies), median(baselines)];
      const name = `durable call, ${callers} caller${callers === 1 ? "" : "s"}, median`;
      rows.push(atMost({ name, value, unit: "ms", baseline }, most, "a commit"));
    }
    rows.push(await bytesACall(dir));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
  return rows;
}

/** File size after 2,000 and after 4,000 calls of one caller: their difference, for a call. */
async function bytesACall(dir: string): Promise<Row> {
  const path = `${dir}/bytes.db`;
  const signer = makeSigner(LOG_POWERS.random(32));
  const sizes: number[] = [];
  const calls = 2_000;
  for (const _half of [1, 2]) {
    const store = openSqliteStore({ path });
    const log = await openLog({ store, signer, ...LOG_POWERS });
    await load(log, { callers: 1, calls });
    await store.close();
    sizes.push((await Deno.stat(path)).size);
  }
  const [first = 0, second = 0] = sizes;
  const value = Math.round((second - first) / calls);
  const name = "log bytes a call, one caller, content apart";
  return {
    ...shown({ name, value, unit: "B", baseline: Math.round(first / calls) }),
    target: `≤ ${MAX_BYTES} B, as many for the second 2,000 as for the first`,
    ok: value <= MAX_BYTES,
  };
}
