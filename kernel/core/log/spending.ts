/**
 * What inferences cost, read off the log: `inferred` events say what was paid, `modelAsked` events without an end
 * what may have been. Only public bodies are read, so a purge takes nothing of it away.
 * @module
 */
import type { JsonObject } from "../../../contracts/base/json.ts";
import type { EventKind } from "../../../contracts/task/event.ts";
import { BUDGET_SPANS, type BudgetOf, type CostRow } from "../../../contracts/task/spending.ts";
import type { AgentTask } from "../../../contracts/task/task.ts";
import type { Store, StoredEvent } from "../../../contracts/task/store.ts";
import { bodyOf } from "./read_events.ts";

/** Who caused a payment. */
export interface Payer {
  /** `agent` is the plain one; a child's is its own. */
  readonly agent: string;
  readonly principal: string;
  /** The channel by which its task came in. */
  readonly trigger: string;
  /** Undefined for the operator's own requests. */
  readonly task?: string;
  /** The tasks of one session have it in common. */
  readonly session?: string;
}

/** The payer of a task that is known; of none, what the operator asked. */
export function payerOf(
  task: ReturnType<FindTask>,
  child?: string,
): Payer {
  return {
    agent: child ?? task?.agent ?? "agent",
    principal: task?.ingress.principal ?? "operator",
    trigger: task?.ingress.channel ?? "terminal",
    ...(task?.session === undefined ? {} : { session: task.session }),
  };
}

/** One payment, or one that may have been made. */
export interface Spent {
  readonly at: number;
  readonly task: string;
  readonly model: string;
  /** The child agent that asked, by its name; undefined for a task's first process. */
  readonly child: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars. */
  readonly money: number;
  /** It was asked and no end of it is on record: a kernel was killed, or it is under way. */
  readonly open: boolean;
}

/** Something other than money that was used: before it was, so that a kill loses none of it. */
export interface Used extends Pick<Spent, "at" | "task" | "child"> {
  readonly of: BudgetOf;
  readonly amount: number;
}

const PAGE = 1_000;
const KINDS = ["modelAsked", "modelFailed", "inferred"] as const;

const numberOf = (body: JsonObject, name: string): number => {
  const value = body[name];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
};
const textOf = (body: JsonObject, name: string): string => {
  const value = body[name];
  return typeof value === "string" ? value : "";
};

/** Payments since a time (milliseconds since 1970), newest first. */
export async function* spentSince(
  store: Pick<Store, "events">,
  since: number,
): AsyncGenerator<Spent> {
  const childOf = makeChildren(store);
  // Newest first, an end is read before its beginning.
  const ended = new Set<string>();
  for await (const event of eventsSince(store, KINDS, since)) {
    const body = bodyOf(event);
    const nonce = `${event.task} ${textOf(body, "nonce")}`;
    if (event.kind === "modelAsked" && ended.has(nonce)) continue;
    ended.add(nonce);
    // What failed was paid for as far as an event of its own says.
    if (event.kind === "modelFailed") continue;
    yield spentOf(event, body, await childOf(event.task, body["pid"]));
  }
}

/** What was used of other things than money, of one task or of all, since a time (milliseconds since 1970), newest first. */
export async function* usedSince(
  store: Pick<Store, "events">,
  since: number,
  only?: string,
): AsyncGenerator<Used> {
  const childOf = makeChildren(store);
  for await (const { at, task, body } of eventsSince(store, ["budgetUsed"], since, only)) {
    const used = bodyOf({ body });
    const of = Object.keys(BUDGET_SPANS).find((each) => each === used["of"]);
    if (of === undefined) continue;
    const child = await childOf(task, used["pid"]);
    yield { at, task, child, of: of as BudgetOf, amount: numberOf(used, "amount") };
  }
}

async function* eventsSince(
  store: Pick<Store, "events">,
  kinds: readonly EventKind[],
  since: number,
  task?: string,
): AsyncGenerator<StoredEvent> {
  let untilSeq: number | undefined;
  for (;;) {
    const page: readonly StoredEvent[] = await store.events({
      ...(untilSeq === undefined ? {} : { untilSeq }),
      ...(task === undefined ? {} : { task }),
      ...{ kinds, newest: true, limit: PAGE },
    });
    for (const event of page) {
      if (event.at < since) return;
      yield event;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    untilSeq = last.seq - 1;
  }
}

function spentOf(event: StoredEvent, body: JsonObject, child: string | undefined): Spent {
  const open = event.kind === "modelAsked";
  return {
    ...{ at: event.at, task: event.task, model: textOf(body, "model"), open, child },
    inputTokens: open ? numberOf(body, "tokens") : numberOf(body, "inputTokens"),
    outputTokens: numberOf(body, "outputTokens"),
    money: open
      ? Math.max(numberOf(body, "money"), numberOf(body, "most"))
      : numberOf(body, "money"),
  };
}

/**
 * Payments of many logs: `events` come task by task, each task's in its own order, whoever wrote them. Clocks of
 * machines differ, so that nothing is read off the order of times.
 */
export async function* spentOfTasks(events: AsyncIterable<StoredEvent>): AsyncGenerator<Spent> {
  let task = "";
  const children = new Map<unknown, string>();
  const asked = new Map<string, Spent>();
  for await (const event of events) {
    if (event.task !== task) {
      yield* asked.values();
      asked.clear();
      children.clear();
      task = event.task;
    }
    const body = bodyOf(event);
    if (event.kind === "processStarted") {
      if (typeof body["ppid"] === "number") {
        children.set(body["pid"], textOf(body, "agent") || "child");
      }
      continue;
    }
    const nonce = textOf(body, "nonce");
    if (event.kind !== "modelAsked") asked.delete(nonce);
    if (event.kind === "modelFailed") continue;
    const spent = spentOf(event, body, children.get(body["pid"]));
    if (spent.open) asked.set(nonce, spent);
    else yield spent;
  }
  yield* asked.values();
}

/** Makes the look-up of child agents: each task's are read once. */
function makeChildren(
  store: Pick<Store, "events">,
): (task: string, pid: unknown) => Promise<string | undefined> {
  const known = new Map<string, ReadonlyMap<unknown, string>>();
  return async (task, pid) => {
    let names = known.get(task);
    if (names === undefined) {
      const started = await store.events({ task, kinds: ["processStarted"] });
      names = new Map(
        started.map(bodyOf).filter(({ ppid }) => typeof ppid === "number")
          .map((body) => [body["pid"], textOf(body, "agent") || "child"]),
      );
      known.set(task, names);
    }
    return names.get(pid);
  };
}

/**
 * Tells whether an `inferred` event is of an inference that no task's purse paid: vectors, and what the operator asks.
 * Process 1 is the kernel itself.
 */
export function isBeside({ pid, embedding }: JsonObject): boolean {
  return pid === 1 || embedding === true;
}

/** The day of a time, UTC, as the log's times are: `2026-11-27`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Looks a task up, by its id or what else stands in the log in its place; undefined where there is none. */
export type FindTask = (
  task: string,
) => Pick<AgentTask, "ingress" | "agent"> & Partial<Pick<AgentTask, "session">> | undefined;

/** Sums by day, model and payer, the newest first. */
export async function costsOf(
  store: Pick<Store, "events">,
  { since, ...rest }: {
    readonly since: number;
    readonly until?: number | undefined;
    readonly find: FindTask;
  },
): Promise<readonly CostRow[]> {
  return await sumsOf(spentSince(store, since), rest);
}

/** Sums of payments by day, model and payer, in the order in which each first comes. */
export async function sumsOf(
  payments: AsyncIterable<Spent>,
  { until = Infinity, find }: {
    readonly until?: number | undefined;
    find(task: string): ReturnType<FindTask> | Promise<ReturnType<FindTask>>;
  },
): Promise<readonly CostRow[]> {
  const rows = new Map<string, { -readonly [K in keyof CostRow]: CostRow[K] }>();
  for await (const spent of payments) {
    if (spent.at >= until) continue;
    const { model } = spent;
    const { session: _each, ...payer } = payerOf(await find(spent.task), spent.child);
    const of = { day: dayOf(spent.at), model, ...payer };
    const key = JSON.stringify(of);
    const row = rows.get(key) ?? {
      ...of,
      ...{ inferences: 0, inputTokens: 0, outputTokens: 0, money: 0, open: 0, openMoney: 0 },
    };
    if (spent.open) {
      row.open += 1;
      row.openMoney += spent.money;
    } else {
      row.inferences += 1;
      row.inputTokens += spent.inputTokens;
      row.outputTokens += spent.outputTokens;
      row.money += spent.money;
    }
    rows.set(key, row);
  }
  return [...rows.values()];
}
