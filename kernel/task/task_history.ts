/** The logs of tasks, as agents/ reads them back after a crash. @module */
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
/** Most leases that are read for one look at all tasks. */
const MAX_LEASES = 1_000;

interface LeaseHistoryParts {
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
}

/**
 * All leases of these tasks, given newest first; oldest task first; of the newest tasks where they are too many. Those in
 * `live` are as it has them; of others that the log does not take back, their task's last word did.
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
        // One that is renewed is granted again.
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

/** One event with its private part, unless that was erased. */
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

/** Makes the reader of past tasks. Rejects `storeCorrupt` where a log does not make sense. */
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

/** Calls of a task, and events of the whole log, that are looked through for the last call of a tool. */
const MAX_CALLS = 1_000;
const MAX_LOOKED = 20_000;

/**
 * Finds the last call of a tool that went on: of the same task, else of another one of the same principal, as far as the
 * newest 20,000 events tell. A task whose content was erased tells nothing.
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
    return await lastIn({ afterSeq: Math.max(0, (last?.seq ?? 0) - MAX_LOOKED) });
  };
}

/** Most ended tasks that are remembered. */
const MAX_ENDED = 4_096;

/** What remembers them. */
interface EndedList {
  saw(event: Pick<Published, "task" | "kind" | "body">): void;
  /** Those after place `after`; null, and a place of another kernel's life: none, and where to go on. */
  since(after: number | null): EndedTasks;
}

/** Makes the list, empty. */
export function makeEndedList(): EndedList {
  const list: TaskId[] = [];
  // Places of what was dropped.
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

// Where the intents of calls that are under way stand in their tasks' logs: what comes in meanwhile follows from them.

/** Places of intents, by call. */
interface IntentPlaces {
  /** Hears what was committed. */
  saw(event: Published): void;
  of(call: Pick<GrantedCall, "task" | "pid" | "callId">): number | undefined;
}

/** Makes it. Only calls of tools that `isMeant` are remembered, each until its outcome. */
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

// How much of each thing this kernel holds, by how it stands: what a service measures. Ids and content stay here.

/** Exchanges with peers, as far as they are counted. */
export interface CountedExchanges {
  list(query: {
    readonly state: ExchangeState;
    readonly size: 1;
    readonly since?: number;
  }): Promise<{ readonly total: number }>;
}

/** What is counted. */
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

/** Counts what there is. */
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
