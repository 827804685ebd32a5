/**
 * Exchanges with peers in the kernel: messages let in or held, each in its inbox, its exchange and its history in one
 * commit, and changes of state, against plain synced inserts of as many rows in the same run.
 * @module
 */
import { digestOf } from "../port/digest.ts";
import { DatabaseSync } from "node:sqlite";
import { SessionId } from "../contracts/authority/mod.ts";
import {
  type Exchange,
  type InboxEntry,
  PeerName,
  type PeerSend,
} from "../contracts/exchange/mod.ts";
import type { HostedTask, TaskHost } from "../contracts/task/mod.ts";
import {
  type Exchanges,
  makeHostedAgentService,
  makeTaskKeeper,
  openExchanges,
  openInbox,
} from "../agents/mod.ts";
import { LOG_POWERS, makeSigner, openLog } from "../broker/audit/mod.ts";
import { openSqliteStore } from "../store/sqlite/mod.ts";
import type { Row } from "./row.ts";

/** Exchanges at once, and messages or changes in all. */
const LOADS = [{ callers: 1, count: 300 }, { callers: 16, count: 2_000 }] as const;
/** Rows that a message makes: two events and their seal, entry and words, head and message, the inbox's place. */
const ROWS = 8;

/** Who answers nothing: what is measured is what comes in. */
const HOST: TaskHost = {
  start: () =>
    Promise.resolve({
      hosted: { turn: () => new Promise(() => undefined) } as unknown as HostedTask,
      unfinished: false,
    }),
  staged: () => Promise.reject(new TypeError("nobody asks")),
  erase: () => Promise.resolve(),
};

let serial = 0;

function sendOf(accept: PeerSend["accept"], more: Partial<PeerSend> = {}): PeerSend {
  serial += 1;
  return {
    ...{ peer: PeerName.parse("alice"), agent: "helper", accept, clearance: "public" },
    message: {
      ...{ id: `m${serial}`, role: "peer", extensions: [], references: [], at: Date.now() },
      parts: [{ kind: "text", text: `Please tidy the plan, number ${serial}. `.repeat(5) }],
    },
    request: {
      ...{ request: "Answer. {{body}}", session: SessionId.parse("s000000000000") },
      ingress: { channel: "a2a", principal: "peer:alice", colour: "RED", label: "public" },
      ...{ profile: "guest", mounts: [], model: { ref: "scripted:x", config: "{}" }, limits: {} },
      ...{ onQuestion: "queue", phase: "work", interactive: true },
    },
    most: { open: 1_000_000, perDay: 1_000_000 },
    ...more,
  };
}

/** Exchanges over a real store, log, inbox and task service. */
async function open(path: string): Promise<Exchanges> {
  const store = openSqliteStore({ path });
  const log = await openLog({ store, signer: makeSigner(LOG_POWERS.random(32)), ...LOG_POWERS });
  let drawn = 0;
  const powers = {
    now: () => Date.now(),
    id: (prefix: string) => prefix + (++drawn).toString(36).padStart(12, "0"),
    token: () => crypto.randomUUID().replaceAll("-", ""),
    after: () => () => undefined,
    reach: () => undefined,
  };
  const keeper = makeTaskKeeper({
    ...{ log, store, now: powers.now },
    history: { tasks: () => Promise.resolve([]), async *events() {} },
  });
  const inbox = await openInbox({
    ...{ store, log, powers, task: keeper.get },
    quotas: { perMinute: 1e9, perSender: 1e9, perBox: 1e9, queuedBytes: 1e12 },
    exchangeTask: (exchange) => exchanges.taskOf(exchange),
  });
  const service = makeHostedAgentService({
    ...{ keeper, host: HOST, inbox, powers, concurrent: 1, harness: "bench" },
    rules: digestOf({}),
    requestOf: () => Promise.reject(new TypeError("nobody asks")),
    past: {} as Parameters<typeof makeHostedAgentService>[0]["past"],
    ...{ asked: () => false, unanswered: () => false, stranded: () => undefined },
  });
  const exchanges = await openExchanges({
    ...{ store, log, inbox, service, powers, turnOver: keeper.turnOver, labelOf: () => "public" },
    frame: ({ message }: InboxEntry) => message.body,
    ...{ artifacts: () => Promise.resolve([]), read: () => Promise.resolve(new Uint8Array()) },
    ...{ due: () => undefined, note: () => undefined },
  });
  return exchanges;
}

/** Plain inserts: as many rows, in one synced transaction each; transactions a second. */
function plain(path: string, count: number): number {
  const db = new DatabaseSync(path);
  db.exec(
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(a INTEGER PRIMARY KEY, b)",
  );
  const insert = db.prepare("INSERT INTO t(b) VALUES(?)");
  const text = "x".repeat(400);
  const start = performance.now();
  for (let i = 0; i < count; i++) {
    db.exec("BEGIN IMMEDIATE");
    for (let row = 0; row < ROWS; row++) insert.run(text);
    db.exec("COMMIT");
  }
  const second = count / ((performance.now() - start) / 1_000);
  db.close();
  return second;
}

/** Things done a second by so many callers. */
async function pace(
  { callers, count }: { readonly callers: number; readonly count: number },
  work: (caller: number) => Promise<unknown>,
): Promise<number> {
  let left = count;
  const start = performance.now();
  await Promise.all(Array.from({ length: callers }, async (_, caller) => {
    while (left-- > 0) await work(caller);
  }));
  return count / ((performance.now() - start) / 1_000);
}

/** The rows: held, let in, followed up, changed. */
export async function exchangeBench(): Promise<Row[]> {
  const dir = await Deno.makeTempDir({ prefix: "remit-bench-" });
  const rows: Row[] = [];
  const add = (name: string, value: number, baseline: number, target: string, ok: boolean): void =>
    void rows.push({
      ...{
        name,
        value,
        unit: "/s",
        baseline,
        ratio: baseline === 0 ? 0 : value / baseline,
        target,
        ok,
      },
    });
  try {
    for (const load of LOADS) {
      const baseline = plain(`${dir}/plain${load.callers}.db`, load.count);
      const exchanges = await open(`${dir}/${load.callers}.db`);
      const at = `${load.callers} at once`;
      const least = load.callers === 1 ? 0.3 : 0.5;
      const target = `≥ ${least}× plain inserts`;
      const held = await pace(load, () => exchanges.send(sendOf("ask")));
      add(`messages of peers held, ${at}`, held, baseline, target, held >= least * baseline);
      const let_in = await pace(load, () => exchanges.send(sendOf("auto")));
      add(
        `messages that become tasks, ${at}`,
        let_in,
        baseline,
        target,
        let_in >= least * baseline,
      );
      const some: Exchange[] = [];
      for (let n = 0; n < load.callers; n++) some.push(await exchanges.send(sendOf("auto")));
      const said = await pace(load, (caller) => {
        const task = some[caller]?.task;
        const mine = task === undefined ? undefined : exchanges.ofTask(task);
        return mine?.say("Half of it.", `${++serial}`.padStart(24, "0")) ?? Promise.resolve();
      });
      add(`changes of exchanges, ${at}`, said, baseline, target, said >= least * baseline);
      const listed = await pace({ callers: 1, count: 50 }, () => exchanges.list({ size: 50 }));
      add(
        ...[`pages of 50 of ${2 * load.count} exchanges, one at a time`, listed, 0] as const,
        ...["none", true] as const,
      );
    }
    return rows;
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}
