/**
 * The cost of inferences, read from the log: `inferred` events hold payments, and `modelAsked` events without an end
 * hold payments that may have happened. Only public bodies are read, so a purge loses nothing.
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
  /** The agent's name; `agent` is the default one. */
  readonly agent: string;
  readonly principal: string;
  /** The channel of the task's request. */
  readonly trigger: string;
  /** Undefined for the operator's own requests. */
  readonly task?: string;
  /** The task's session, whose tasks share its budgets. */
  readonly session?: string;
}

/** The payer of a task; without a task the operator. */
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

/** A payment, or an inference whose end is unknown. */
export interface Spent {
  readonly at: number;
  readonly task: string;
  readonly model: string;
  /** The child agent that asked; undefined for a task's first process. */
  readonly child: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars. */
  readonly money: number;
  /** No end is on record: the inference runs, or its kernel was killed. */
  readonly open: boolean;
}

/** Use of a budget other than money, recorded before the use, so that a kill loses nothing. */
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

/** Payments since a moment (milliseconds since 1970), newest first. */
export async function* spentSince(
  store: Pick<Store, "events">,
  since: number,
): AsyncGenerator<Spent> {
  const childOf = makeChildNames(store);
  // In this order an inference's end comes before its beginning.
  const ended = new Set<string>();
  for await (const event of eventsSince(store, KINDS, since)) {
    const body = bodyOf(event);
    const nonce = `${event.task} ${textOf(body, "nonce")}`;
    if (event.kind === "modelAsked" && ended.has(nonce)) continue;
    ended.add(nonce);
    // A failed inference that cost money has an `inferred` event of its own.
    if (event.kind === "modelFailed") continue;
    yield spentOf(event, body, await childOf(event.task, body["pid"]));
  }
}

/** Uses of budgets other than money, of one task or of all, since a moment (milliseconds since 1970), newest first. */
export async function* usedSince(
  store: Pick<Store, "events">,
  since: number,
  only?: string,
): AsyncGenerator<Used> {
  const childOf = makeChildNames(store);
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
 * Payments of many logs. `events` come task by task, each task's in chain order, whichever kernel
 * wrote them. Clocks of machines differ, so nothing depends on the order of times.
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

/** Looks child agents' names up by process id; each task is read once. */
function makeChildNames(
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
 * Tells whether no task's purse paid for an `inferred` event: it is an embedding, or the operator
 * asked for it (process 1 is the kernel itself).
 */
export function isBeside({ pid, embedding }: JsonObject): boolean {
  return pid === 1 || embedding === true;
}

/** The UTC day of a moment (milliseconds since 1970): `2026-11-27`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Finds a task by the log's task field, which may hold another name; undefined where no task has it. */
export type FindTask = (
  task: string,
) => Pick<AgentTask, "ingress" | "agent"> & Partial<Pick<AgentTask, "session">> | undefined;

/** Sums one log's payments by day, model and payer, newest first. */
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

/** Sums of payments by day, model and payer, in order of first occurrence. */
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
