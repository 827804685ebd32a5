/** Queries over the logs of tasks: leases, past tasks, earlier calls, ended tasks, counts. @module */
import { ExchangeState } from "../../contracts/exchange/exchange.ts";
import type {
  EndedTasks,
  RetainReport,
  StateCounts,
  TaskSpan,
} from "../../contracts/task/control_answers.ts";
import { EVENT_KINDS, type EventKind } from "../../contracts/task/event.ts";
import type { TaskTally } from "../../contracts/task/hosting.ts";
import { type LeaseId, TaskId } from "../../contracts/authority/ids.ts";
import { EntryState, type InboxEntry } from "../../contracts/exchange/inbox.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { Lease } from "../../contracts/authority/lease.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { GrantedCall } from "../../contracts/task/power.ts";
import type { Store } from "../../contracts/task/store.ts";
import { type AgentTask, TASK_TRANSITIONS, TaskStatus } from "../../contracts/task/task.ts";
import { leasesOf } from "../core/lease/rows.ts";
import type { Published } from "../core/log/watch.ts";
import { bodyOf, eventsOf, type ReadPrivate } from "../core/log/read_events.ts";

const KINDS = ["leaseGranted", "leaseRevoked", "taskStatus"] as const;
/** Leases of one query over all tasks, at most. */
const MAX_LEASES = 1_000;

interface LeaseHistoryParts {
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
}

/**
 * All leases of `tasks`, which come newest task first; the result is oldest task first, and cut to
 * the newest tasks where there are too many. Leases in `live` are taken as they are; other
 * unrevoked leases ended with their task's last event.
 */
export async function readLeases(
  parts: LeaseHistoryParts,
  tasks: AsyncIterable<Pick<AgentTask, "id">> | Iterable<Pick<AgentTask, "id">>,
  live: readonly Lease[],
): Promise<readonly Lease[]> {
  const found = new Map<LeaseId, Lease>();
  for await (const { id } of tasks) {
    if (found.size >= MAX_LEASES) break;
    for (const lease of (await readTask(parts, id)).toReversed()) found.set(lease.id, lease);
  }
  const held = new Map(live.map((lease) => [lease.id, lease]));
  const ended = [...found.values()].filter(({ id }) => !held.has(id));
  return [...ended.toReversed(), ...live];
}

async function readTask(
  { store, readPrivate }: LeaseHistoryParts,
  task: TaskId,
): Promise<readonly Lease[]> {
  const leases = new Map<string, Lease>();
  let last = 0;
  for (const event of await store.events({ task, fromN: 0, kinds: KINDS, limit: MAX_LEASES })) {
    const { kind, at } = event;
    const body = bodyOf(event);
    last = at;
    if (kind === "leaseGranted") {
      const secret = await readPrivate(event);
      for (const lease of leasesOf({ task, at, body, secret })) {
        // A renewed lease is granted again.
        const { grantedAt = at } = leases.get(lease.id) ?? {};
        leases.set(lease.id, { ...lease, grantedAt });
      }
    } else if (kind === "leaseRevoked") {
      const lease = leases.get(String(body["lease"]));
      if (lease !== undefined) leases.set(lease.id, { ...lease, revokedAt: at });
    }
  }
  return [...leases.values()].map((lease) => ({ ...lease, revokedAt: lease.revokedAt ?? last }));
}

/** One event with its private part, unless erased. */
interface PastEvent {
  readonly kind: EventKind;
  readonly at: number;
  readonly body: JsonObject;
  readonly private?: JsonObject | undefined;
}

/** Every task's log. */
interface PastTasks {
  tasks(): Promise<readonly TaskId[]>;
  events(task: TaskId): AsyncGenerator<PastEvent>;
}

/** Makes the reader of past tasks. Rejects with `storeCorrupt` where a log is inconsistent. */
export function makePastTasks(
  store: Pick<Store, "events">,
  readPrivate: ReadPrivate,
): PastTasks {
  return Object.freeze({
    async tasks(): Promise<readonly TaskId[]> {
      const found: TaskId[] = [];
      for (let afterSeq = 0;;) {
        const page = await store.events({ afterSeq, kinds: ["taskCreated"], limit: 1_000 });
        found.push(...page.flatMap(({ task }) => TaskId.safeParse(task).data ?? []));
        const last = page.at(-1);
        if (last === undefined || page.length < 1_000) return found;
        afterSeq = last.seq;
      }
    },
    async *events(task: TaskId): AsyncGenerator<PastEvent> {
      for await (const event of eventsOf(store, task)) {
        const kind = EVENT_KINDS.find((each) => each === event.kind);
        if (kind === undefined) continue;
        yield { kind, at: event.at, body: bodyOf(event), private: await readPrivate(event) };
      }
    },
  });
}

/** Calls of a task, and newest events of the whole log, that the search for an earlier call covers. */
const MAX_CALLS = 1_000;
const MAX_SEARCHED = 20_000;

/**
 * Finds the last permitted call of a tool: of the same task, else of another task of the same
 * principal within the newest 20,000 events. Erased tasks are skipped.
 */
export function makeEarlierCalls(
  store: Pick<Store, "events">,
  readPrivate: ReadPrivate,
): (
  process: Pick<ProcessRow, "task" | "principal">,
  call: { readonly tool: string; readonly key: string },
) => Promise<{ task: TaskId; at: number; argumentsText: string } | undefined> {
  const kinds = ["intent"];
  return async ({ task, principal }, { tool, key }) => {
    const lastIn = async (query: Parameters<Store["events"]>[0]) => {
      for (const event of await store.events({ ...query, kinds, newest: true, limit: MAX_CALLS })) {
        const body = bodyOf(event), of = TaskId.safeParse(event.task);
        if (body["tool"] !== tool || body["principal"] !== principal || !of.success) continue;
        const secret = await readPrivate(event), text = secret?.["arguments"];
        if (typeof text !== "string" || secret?.["key"] === key) continue;
        return { task: of.data, at: event.at, argumentsText: text };
      }
      return undefined;
    };
    const own = await lastIn({ task });
    if (own !== undefined) return own;
    const [last] = await store.events({ newest: true, limit: 1 });
    return await lastIn({ afterSeq: Math.max(0, (last?.seq ?? 0) - MAX_SEARCHED) });
  };
}

/** Ended tasks that are remembered, at most. */
const MAX_ENDED = 4_096;

/** The list of ended tasks. */
interface EndedList {
  saw(event: Pick<Published, "task" | "kind" | "body">): void;
  /** Ended tasks after position `after`, and the next position; none for null or a position of an earlier kernel. */
  since(after: number | null): EndedTasks;
}

/** Makes an empty list. */
export function makeEndedList(): EndedList {
  const list: TaskId[] = [];
  // Number of dropped entries.
  let gone = 0;
  return Object.freeze<EndedList>({
    saw({ task, kind, body }): void {
      if (kind !== "taskStatus" || body["archived"] !== undefined) return;
      const id = TaskId.safeParse(task), status = TaskStatus.safeParse(body["status"]);
      if (!id.success || !status.success || TASK_TRANSITIONS[status.data].length > 0) return;
      list.push(id.data);
      if (list.length > MAX_ENDED) gone += list.splice(0, list.length - MAX_ENDED).length;
    },
    since(after): EndedTasks {
      const next = gone + list.length;
      if (after === null || after > next) return { tasks: [], next };
      return { tasks: list.slice(Math.max(0, after - gone)), next };
    },
  });
}

// Positions of running calls' intents in their tasks' logs: an incoming message meanwhile follows from the intent.

/** Positions of intents, by call. */
interface IntentPlaces {
  /** Takes a committed event in. */
  saw(event: Published): void;
  of(call: Pick<GrantedCall, "task" | "pid" | "callId">): number | undefined;
}

/** Makes an empty table. It keeps calls of tools for which `isMeant` holds, each until its outcome. */
export function makeIntentPlaces(isMeant: (tool: string) => boolean): IntentPlaces {
  const places = new Map<string, number>();
  const nameOf = (task: string, pid: unknown, call: unknown): string => `${task} ${pid} ${call}`;
  return Object.freeze<IntentPlaces>({
    saw({ task, kind, n, body }): void {
      if (kind !== "intent" && kind !== "outcome") return;
      const { tool, pid, call } = body;
      if (typeof tool !== "string" || !isMeant(tool)) return;
      if (kind === "intent") places.set(nameOf(task, pid, call), n);
      else places.delete(nameOf(task, pid, call));
    },
    of: ({ task, pid, callId }) => places.get(nameOf(task, pid, callId)),
  });
}

// Counts of this kernel's tasks, inbox entries and exchanges by state, for a service's metrics. Ids and content stay here.

/** The part of the exchanges with peers that counting needs. */
export interface CountedExchanges {
  list(query: {
    readonly state: ExchangeState;
    readonly size: 1;
    readonly since?: number;
  }): Promise<{ readonly total: number }>;
}

/** The sources of the counts. */
interface CountedParts {
  tally(): Promise<TaskTally>;
  readonly inbox: { list(query: Record<string, never>): readonly InboxEntry[] };
  readonly exchanges: CountedExchanges;
}

function tally<K extends string>(names: readonly K[], found: Iterable<K>): Record<string, number> {
  const counts = new Map<K, number>(names.map((name) => [name, 0]));
  for (const each of found) counts.set(each, (counts.get(each) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Handlers of the control operations over the whole state. */
export interface StateOps {
  counts(): Promise<Omit<StateCounts, "questions" | "processes">>;
  ended(asked: { readonly after: number | null }): EndedTasks;
  spans(asked: { readonly task: TaskId }): Promise<readonly TaskSpan[]>;
  retain(asked: { readonly before: number; readonly dryRun: boolean }): Promise<RetainReport>;
}

/** Counts tasks, inbox entries and exchanges. */
export async function countState(
  parts: CountedParts,
): Promise<Omit<StateCounts, "questions" | "processes">> {
  const { statuses, channels } = await parts.tally();
  const exchanges: Record<string, number> = {};
  for (const state of ExchangeState.options) {
    exchanges[state] = (await parts.exchanges.list({ state, size: 1 })).total;
  }
  return {
    tasks: Object.fromEntries(TaskStatus.options.map((each) => [each, statuses.get(each) ?? 0])),
    channels: Object.fromEntries(channels),
    inbox: tally(EntryState.options, parts.inbox.list({}).map(({ state }) => state)),
    exchanges,
  };
}
