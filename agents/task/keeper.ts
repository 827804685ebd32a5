/**
 * The only writer of task state: every change commits an event and its projection together.
 * Finished tasks are only in the store; memory holds unfinished tasks and a few recently used
 * finished ones.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { TaskId } from "../../contracts/authority/ids.ts";
import { toJsonObject } from "../../contracts/base/json.ts";
import { AgentTask, TaskStatus } from "../../contracts/task/task.ts";
import type { NewEvent } from "../../contracts/task/event.ts";
import { allTasks, type TaskQuery, type TaskTally } from "../../contracts/task/hosting.ts";
import type { DocumentRow, DocumentWrite, EventLog, Store } from "../../contracts/task/store.ts";
import {
  checkTransition,
  foldTask,
  isContaminating,
  isFinal,
  isTurnOver,
  rememberTask,
  type TaskHistory,
} from "./fold.ts";

export interface TaskKeeperParts {
  readonly log: EventLog;
  readonly store: Pick<Store, "document" | "documents" | "peek">;
  readonly history: TaskHistory;
  now(): number;
}

/** Task records, written through. */
export interface TaskKeeper {
  /**
   * Loads the unfinished tasks of earlier kernels from their logs, because a projection is only
   * written with a change of status. Runs once; no request may be served before.
   */
  load(): Promise<readonly AgentTask[]>;
  get(task: TaskId): AgentTask | undefined;
  /** Like `get`, but throws `notFound`. */
  need(task: TaskId): AgentTask;
  /** The unfinished tasks. */
  live(): readonly AgentTask[];
  /** A page of all tasks, in the order of the log. */
  list(query?: TaskQuery): Promise<readonly AgentTask[]>;
  /** Numbers of tasks by status and channel. */
  tally(): Promise<TaskTally>;
  /** Appends events that change the task, with documents; resolves when durable. */
  record(
    task: TaskId,
    events: readonly NewEvent[],
    documents?: readonly DocumentWrite[],
  ): Promise<AgentTask>;
  /** Whether no turn of the task is running, or was running when an earlier kernel ended. */
  turnOver(task: TaskId): boolean;
  /** Whether a call of the task was refused for its colour under `strict` (exit 69). */
  contaminated(task: TaskId): boolean;
  /** Reloads the state of a finished task that is resumed from its log. */
  recall(task: TaskId): Promise<void>;
  /** Loads a task taken over from another kernel; undefined if its log does not fold. */
  adopt(task: TaskId): Promise<AgentTask | undefined>;
  /** Drops a task that another kernel has taken over. */
  lose(task: TaskId): void;
  /** Sets, in memory only, the reason why a task cannot continue. */
  strand(task: TaskId, reason: string): void;
  /** Folds an event that another component committed. */
  saw(task: TaskId, event: NewEvent & { readonly at: number }): void;
}

const KIND = "task";
/** Document that marks the task index as complete; written once for a state folder. */
const WHOLE = { kind: "taskIndex", id: "whole" } as const;
/** Larger than any number of unfinished tasks. */
const ALL = 1_000_000;
/** Default page size. */
const PAGE = 1_000;
/** Tasks per read. */
const STEP = 100;
/** Maximum number of finished tasks in memory. */
const MAX_ENDED = 256;
const UNFINISHED = TaskStatus.options.filter((status) => !isFinal(status));

interface Entry {
  readonly task: AgentTask | undefined;
  readonly version: number;
}

/** Makes the keeper of task records. */
export function makeTaskKeeper(parts: TaskKeeperParts): TaskKeeper {
  const { log, store, history, now } = parts;
  const live = new Map<TaskId, Entry>();
  const ended = new Map<TaskId, Entry>();
  const over = new Set<TaskId>();
  const contaminated = new Set<TaskId>();
  let changes = 0;
  let tallied: { readonly changes: number; readonly tally: TaskTally } | undefined;

  const put = (id: TaskId, entry: Entry): void => {
    const final = entry.task !== undefined && isFinal(entry.task.status);
    (final ? live : ended).delete(id);
    const map = final ? ended : live;
    if (final) ended.delete(id);
    map.set(id, entry);
  };
  const forget = (): void => {
    for (const id of ended.keys()) {
      if (ended.size <= MAX_ENDED) return;
      ended.delete(id);
      over.delete(id);
      contaminated.delete(id);
    }
  };
  const atHand = (id: TaskId): Entry | undefined => live.get(id) ?? ended.get(id);
  const find = (id: TaskId): Entry | undefined => {
    const known = atHand(id);
    if (known !== undefined) return known;
    const row = store.peek(KIND, id);
    if (row === undefined) return undefined;
    const found = entryOf(row);
    // An unfinished task was loaded at the start, or does not parse.
    if (found.task === undefined || !isFinal(found.task.status)) return found;
    put(id, found);
    forget();
    return found;
  };

  const get = (task: TaskId): AgentTask | undefined => find(task)?.task;
  const need = (task: TaskId): AgentTask => {
    const found = get(task);
    if (found === undefined) {
      throw new Fault("notFound", `Cannot find task "${task}": list them with "remit task show"`);
    }
    return found;
  };

  const record = async (
    task: TaskId,
    events: readonly NewEvent[],
    documents: readonly DocumentWrite[] = [],
  ): Promise<AgentTask> => {
    const entry = find(task);
    const before = entry?.task;
    const version = entry?.version ?? 0;
    const at = now();
    let next = before;
    for (const event of events) {
      const folded = foldTask(task, next, { ...event, at });
      if (next !== undefined) {
        const resumed = event.body["resumed"] === true;
        checkTransition(task, next.status, folded.status, resumed);
      }
      next = folded;
    }
    if (next === undefined) throw new TypeError("Cannot record nothing");
    put(task, { task: next, version: version + 1 });
    changes += 1;
    try {
      await log.append(task, events, [writeOf(next, version), ...documents], at);
    } catch (error) {
      // Nothing was written: restore memory to the durable state.
      live.delete(task);
      ended.delete(task);
      if (entry !== undefined) put(task, entry);
      throw error;
    }
    forget();
    return next;
  };

  /** Creates missing task documents, which a repaired log or an early version may lack. */
  const completeIndex = async (): Promise<void> => {
    if (await store.document(WHOLE.kind, WHOLE.id) !== undefined) return;
    try {
      for (const id of await history.tasks()) {
        if (store.peek(KIND, id) !== undefined) continue;
        const found = await rememberTask(history, id);
        if (found === undefined) continue;
        // If the store is full, memory keeps the task until a later kernel can write it.
        put(id, { task: found.task, version: 0 });
        await log.append(id, [], [writeOf(found.task, 0)]);
        put(id, { task: found.task, version: 1 });
      }
      forget();
      await log.append("kernel", [], [{ ...WHOLE, task: "kernel", expect: 0, body: {} }]);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "storeFull") throw error;
    }
  };

  const list = async (
    { archived, statuses, oldest, limit = PAGE, ...range }: TaskQuery = {},
  ): Promise<readonly AgentTask[]> => {
    // Documents that do not parse have no status and are skipped.
    const states = [
      ...statuses ?? TaskStatus.options,
      ...(archived === true ? ["archived"] : []),
    ];
    const newest = oldest !== true, step = Math.min(limit, STEP);
    const found: AgentTask[] = [];
    for (let place = range;;) {
      const rows = await store.documents({ kind: KIND, states, newest, limit: step, ...place });
      for (const row of rows) {
        const id = TaskId.safeParse(row.id);
        const { task } = (id.success ? atHand(id.data) : undefined) ?? entryOf(row);
        if (task === undefined || (statuses?.includes(task.status) === false)) continue;
        if (found.length < limit) found.push(task);
      }
      const last = TaskId.safeParse(rows.at(-1)?.id).data;
      if (rows.length < step || found.length >= limit || last === undefined) break;
      place = { ...range, ...(newest ? { before: last } : { after: last }) };
    }
    return newest ? found.reverse() : found;
  };

  let loading: Promise<void> | undefined;
  const load = async (): Promise<void> => {
    await completeIndex();
    const states = [...UNFINISHED, ""];
    for (const row of await store.documents({ kind: KIND, states, limit: ALL })) {
      const id = TaskId.safeParse(row.id);
      if (id.success) await learn(id.data, row);
    }
  };
  /** Loads an unfinished task from its log. */
  const learn = async (id: TaskId, row: DocumentRow): Promise<AgentTask | undefined> => {
    const found = await rememberTask(history, id);
    const task = found?.task ?? entryOf(row).task;
    if (task !== undefined) put(id, { task, version: row.version });
    if (found?.turnOver === true) over.add(id);
    if (found?.contaminated === true) contaminated.add(id);
    return task;
  };

  return Object.freeze<TaskKeeper>({
    async load(): Promise<readonly AgentTask[]> {
      await (loading ??= load());
      return liveTasks();
    },
    get,
    need,
    live: liveTasks,
    list,
    async tally(): Promise<TaskTally> {
      for (;;) {
        if (tallied?.changes === changes) return tallied.tally;
        const before = changes;
        const tally = {
          statuses: new Map<TaskStatus, number>(),
          channels: new Map<string, number>(),
        };
        for await (const task of allTasks(list)) {
          const { status, ingress } = task;
          tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
          tally.channels.set(ingress.channel, (tally.channels.get(ingress.channel) ?? 0) + 1);
        }
        tallied = { changes: before, tally };
        // Changes during the count are counted next time.
        if (changes !== before) return tally;
      }
    },
    record,
    turnOver: (task: TaskId) => over.has(task),
    contaminated: (task: TaskId) => contaminated.has(task),
    async recall(task: TaskId): Promise<void> {
      const found = await rememberTask(history, task);
      if (found?.turnOver === true) over.add(task);
      if (found?.contaminated === true) contaminated.add(task);
    },
    async adopt(task: TaskId): Promise<AgentTask | undefined> {
      changes += 1;
      const row = await store.document(KIND, task);
      return row === undefined ? undefined : await learn(task, row);
    },
    lose(task: TaskId): void {
      changes += 1;
      live.delete(task);
      ended.delete(task);
      over.delete(task);
      contaminated.delete(task);
    },
    strand(task: TaskId, reason: string): void {
      const entry = atHand(task);
      if (entry?.task === undefined) return;
      put(task, { ...entry, task: { ...entry.task, reason: reason.slice(0, 2_048) } });
    },
    saw(task: TaskId, event: NewEvent & { readonly at: number }): void {
      const entry = atHand(task);
      if (entry?.task === undefined) return;
      if (isContaminating(event)) contaminated.add(task);
      if (isTurnOver(over.has(task), event)) over.add(task);
      else over.delete(task);
      put(task, { ...entry, task: foldTask(task, entry.task, event) });
    },
  });

  function liveTasks(): readonly AgentTask[] {
    return [...live.values()].flatMap(({ task }) => task ?? []);
  }
}

function entryOf({ body, version }: DocumentRow): Entry {
  return { task: AgentTask.safeParse(body).data, version };
}

function writeOf(task: AgentTask, expect: number): DocumentWrite {
  return { kind: KIND, id: task.id, task: task.id, expect, body: toJsonObject(task) };
}
