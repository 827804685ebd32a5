/**
 * What a history costs: the same commands over a state with 10 tasks behind it and over one with 10,000, in turns. A
 * history is appended through the log, with the events that a task of three calls leaves.
 * @module
 */
import { makeTaskKeeper } from "../agents/mod.ts";
import { KEY_POWERS, LOG_POWERS, openLog, readPrivate } from "../broker/audit/mod.ts";
import { loadOrMakeReceiptKey } from "../broker/audit/mod.ts";
import { SessionId, TaskId } from "../contracts/authority/mod.ts";
import { toJson } from "../contracts/base/mod.ts";
import { TaskRequest } from "../contracts/task/mod.ts";
import type { EventLog, NewEvent } from "../contracts/task/mod.ts";
import { askPages } from "../cli/command.ts";
import { greet } from "../launch/kernel/link.ts";
import { newestTasks } from "../cli/arguments/agent_filter.ts";
import { connectSocket } from "../launch/kernel/socket_powers.ts";
import { placesOf } from "../launch/disk/places.ts";
import { makePastTasks } from "../kernel/task/task_history.ts";
import { openSqliteStore } from "../store/sqlite/mod.ts";
import { type Machine, onMachine } from "../tests/fake/remit.ts";
import { memoryOf } from "./_memory.ts";
import { quantile } from "./quantile.ts";
import { atMost, type Row } from "./row.ts";
import { timed } from "./world.ts";
import { bareStart } from "./yardstick.ts";

const [FEW, MANY] = [10, 10_000];
const ROUNDS = 5;
/** Tasks that are written together: they share commits. */
const TOGETHER = 40;
const MAX = 1.1;
/** Signals that are timed under a check of the whole log. */
const SIGNALS = 200;
/** Bare starts that a signal may wait for: a person who stops a task does not notice them. */
const MAX_STARTS = 4;

const HASH = "5f".repeat(32);
const PLAY = `scenario: due\nturns:\n  - say: Nothing is due.\n`;

function callEvents(call: string): readonly NewEvent[] {
  const common = { call, pid: 2, tool: "file_read", colour: "YELLOW", label: "internal" };
  const shape = { argumentsHash: HASH, descriptor: HASH, effect: "read", mode: "auto", turn: 1 };
  return [
    {
      kind: "inferred",
      body: { pid: 2, turn: 1, model: "demo", inputTokens: 900, outputTokens: 60, nonce: call },
      private: { text: "I read the plan. ".repeat(12) },
    },
    {
      kind: "intent",
      body: { ...common, ...shape, decision: "auto", rule: "built-in: read" },
      private: { arguments: '{"path":"desk/plan.md"}' },
    },
    {
      kind: "outcome",
      body: { ...common, outcome: "ok", ms: 3, resultBytes: 812, resultHash: HASH },
      private: { result: "The plan of the week. ".repeat(40) },
    },
  ];
}

/** Writes a history of tasks that are over into a state that has none. */
async function writeHistory(state: string, count: number): Promise<void> {
  const dir = `${state}/kernel`;
  for (const folder of [state, dir]) await Deno.mkdir(folder, { mode: 0o700, recursive: true });
  const store = openSqliteStore({ path: `${dir}/remit.db` });
  const signer = await loadOrMakeReceiptKey({ powers: KEY_POWERS, path: `${dir}/receipt_key` });
  const log: EventLog = await openLog({ store, signer, ...LOG_POWERS });
  const history = makePastTasks(store, (event) => readPrivate(store, event));
  const keeper = makeTaskKeeper({ log, store, history, now: LOG_POWERS.now });
  await keeper.load();
  const request = toJson(TaskRequest.parse({
    ...{ request: "Read the plan of the week and say what is due.", mounts: [], limits: {} },
    ...{ session: SessionId.parse("s000000000000"), profile: "operator", phase: "work" },
    ingress: { channel: "terminal", principal: "carol", colour: "BLUE", label: "internal" },
    ...{ model: { ref: "demo", config: "{}" }, onQuestion: "queue", interactive: false },
  }));
  const one = async (n: number): Promise<void> => {
    const task = TaskId.parse(`t${String(n).padStart(12, "0")}`);
    await keeper.record(task, [
      { kind: "taskCreated", body: { harness: "bench" }, private: { request } },
      ...["c1", "c2", "c3"].flatMap(callEvents),
      { kind: "taskStatus", body: { status: "done", exit: 0 }, private: { answer: "Nothing." } },
    ]);
  };
  for (let at = 0; at < count; at += TOGETHER) {
    const size = Math.min(TOGETHER, count - at);
    await Promise.all(Array.from({ length: size }, (_, n) => one(at + n)));
  }
  await store.close();
}

/** A machine over one history. */
interface Side {
  readonly machine: Machine;
  readonly taken: Map<string, number[]>;
  readonly memory: number[];
}

async function take(side: Side, name: string, words: readonly string[]): Promise<void> {
  const ms = await timed(async () => {
    const done = await side.machine.remit(words);
    if (done.code !== 0) throw new Error(`remit ${words.join(" ")}: ${done.code} ${done.stderr}`);
  });
  const all = side.taken.get(name) ?? [];
  side.taken.set(name, [...all, ms]);
}

async function reach({ machine }: Side): Promise<Awaited<ReturnType<typeof greet>>> {
  const environment = {
    cwd: machine.dir,
    env: (name: string) => machine.env[name],
    uid: Deno.uid() ?? 0,
  };
  const wire = await connectSocket(placesOf(environment, machine.state).controlSocket);
  if (wire === undefined) throw new Error("no kernel runs");
  return await greet(wire, "bench");
}

async function round(side: Side, play: string): Promise<void> {
  await side.machine.remit(["stop", "--force"]);
  while ((await side.machine.remit(["stop", "--json"])).stdout.includes("true")) { /* it ends */ }
  await take(side, "kernel start, to its first answer", ["questions"]);
  await take(side, "run", ["run", "-p", "What is due?", "--model", `scripted:${play}`]);
  await take(side, "ps", ["ps"]);
  await take(side, "tasks, a page of 50", ["tasks"]);
  await take(side, "questions", ["questions"]);
  await take(side, "log of the last task", ["log", "last"]);
  const link = await reach(side);
  side.memory.push((await memoryOf([link.pid])).pss);
  link.close();
}

type Link = Awaited<ReturnType<typeof reach>>;

/** Signals to what is not there: it is looked for as one that is, and the answer is a refusal. */
const SIGNAL: Readonly<Record<string, (link: Link) => Promise<unknown>>> = {
  cancel: (link) => link.ask("cancel", { task: "tnosuchtask00" }),
  "revoke of an unknown lease": (link) => link.ask("revoke", { lease: "lnosuchlease0" }),
};

/** What a person may ask of a long history. */
const COMMANDS: Readonly<Record<string, (link: Link) => Promise<unknown>>> = {
  "audit verify": (link) => link.ask("auditVerify", {}),
  "audit query": (link) => drained(askPages(link, "auditQuery", {})),
  "audit export": (link) => drained(askPages(link, "auditExport", null)),
  "tasks --all": (link) => drained(newestTasks(link, { archived: true })),
  "mcp log": (link) => link.ask("mcpLog", { server: "weather", limit: 10_000 }),
};

async function drained(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) { /* read, and let go */ }
}

/** Milliseconds until a signal of each kind is answered, in turns, while `busy` says so. */
async function signals(link: Link, busy: () => boolean): Promise<Record<string, number[]>> {
  const waits: Record<string, number[]> = { cancel: [], "revoke of an unknown lease": [] };
  while (busy()) {
    for (const [name, send] of Object.entries(SIGNAL)) {
      waits[name]?.push(await timed(() => send(link).catch(() => undefined)));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  return waits;
}

/** Signals to a kernel that answers a command of its own person, against the same signals to an idle one. */
async function signalRows(side: Side): Promise<Row[]> {
  await side.machine.remit(["questions"]);
  const [asking, signalling] = [await reach(side), await reach(side)];
  const rows: Row[] = [], bare = await bareStart();
  for (const [command, ask] of Object.entries(COMMANDS)) {
    let left = SIGNALS;
    const idle = await signals(signalling, () => left-- > 0);
    const under: Record<string, number[]> = {};
    // A short command is repeated until there are enough signals.
    while ((under["cancel"]?.length ?? 0) < SIGNALS) {
      let over = false;
      const whole = ask(asking).finally(() => over = true);
      const waits = await signals(signalling, () => !over);
      await whole;
      for (const [name, more] of Object.entries(waits)) (under[name] ??= []).push(...more);
    }
    for (const name of Object.keys(SIGNAL)) {
      const value = quantile(under[name] ?? [], 0.99);
      const still = quantile(idle[name] ?? [], 0.99).toFixed(0);
      rows.push(atMost(
        {
          name: `${name} during ${command}, ${MANY} tasks, p99 (an idle kernel: ${still})`,
          ...{ value, unit: "ms", baseline: bare },
        },
        MAX_STARTS,
        "a bare start",
      ));
    }
  }
  asking.close();
  signalling.close();
  return rows;
}

/** Only the signals: a tenth of the time. */
export async function historySignals(): Promise<Row[]> {
  const rows: Row[] = [];
  await onMachine(async (machine) => {
    await writeHistory(machine.state, MANY);
    rows.push(...await signalRows({ machine, taken: new Map(), memory: [] }));
  }, { env: { REMIT_IDLE_SECONDS: "600" } });
  return rows;
}

/** The rows of a long history. */
export async function historyBench(): Promise<Row[]> {
  const rows: Row[] = [];
  await onMachine(async (few) =>
    await onMachine(async (many) => {
      const sides = [few, many].map((machine): Side => ({ machine, taken: new Map(), memory: [] }));
      for (const [at, { machine }] of sides.entries()) {
        await writeHistory(machine.state, at === 0 ? FEW : MANY);
        await machine.write("play.yaml", PLAY);
      }
      for (let n = -1; n < ROUNDS; n++) {
        for (const side of sides) {
          await round(side, `${side.machine.dir}/play.yaml`);
          // The first warms what is cached, and indexes a history that another program wrote.
          if (n < 0) side.taken.clear(), side.memory.splice(0);
        }
      }
      const [small, large] = sides;
      if (small === undefined || large === undefined) throw new TypeError("two sides");
      for (const [name, values] of large.taken) {
        rows.push(row(name, "ms", [values, small.taken.get(name) ?? []]));
      }
      rows.push(row("memory of the kernel afterwards", "MB", [large.memory, small.memory]));
      rows.push(...await signalRows(large));
    }, { env: { REMIT_IDLE_SECONDS: "600" } }), { env: { REMIT_IDLE_SECONDS: "600" } });
  return rows;
}

function row(
  name: string,
  unit: string,
  [large, small]: readonly [readonly number[], readonly number[]],
): Row {
  const [value, baseline] = [quantile(large, 0.5), quantile(small, 0.5)];
  const figure = { name: `${name}, ${MANY} tasks against ${FEW}`, value, unit, baseline };
  return atMost(figure, MAX, `${FEW} tasks`);
}
