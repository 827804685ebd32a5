/** The only writer of task state: every change is an event and its projection in one commit. @module */
import {
  AgentTask,
  type DocumentWrite,
  type EventLog,
  Fault,
  type NewEvent,
  type Store,
  TaskId,
  toJsonObject,
} from "../../contracts/mod.ts";
import { checkTransition, foldTask, isContaminating, isFinal, isTurnOver } from "./fold.ts";
import { rememberTask, type TaskHistory } from "./history.ts";

/** What {@link makeTaskKeeper} is handed. */
export interface TaskKeeperParts {
  readonly log: EventLog;
  readonly store: Pick<Store, "documents">;
  readonly history: TaskHistory;
  now(): number;
}

/** Task records in memory, written through. */
export interface TaskKeeper {
  /**
   * Loads what earlier kernels left: projections of tasks that are over, and of every other what
   * its log says, because a projection is only written with a change of status.
   */
  load(): Promise<readonly AgentTask[]>;
  get(task: TaskId): AgentTask | undefined;
  /** Like `get`, but throws `notFound`. */
  need(task: TaskId): AgentTask;
  list(): readonly AgentTask[];
  /** Appends events that change the task, and what belongs to them; resolves when durable. */
  record(
    task: TaskId,
    events: readonly NewEvent[],
    documents?: readonly DocumentWrite[],
  ): Promise<AgentTask>;
  /** No turn of the task is under way, or was when an earlier kernel ended. */
  turnOver(task: TaskId): boolean;
  /** A call of the task was refused for its colour under `strict` (exit 69). */
  contaminated(task: TaskId): boolean;
  /** Learns from its log what is not kept of a task that has ended: it goes on. */
  recall(task: TaskId): Promise<void>;
  /** Says, in memory alone, why a task does not go on: its log cannot be written. */
  strand(task: TaskId, reason: string): void;
  /** Folds an event that somebody else committed. */
  saw(task: TaskId, event: NewEvent & { readonly at: number }): void;
}

/** Makes the keeper of task records. */
export function makeTaskKeeper(parts: TaskKeeperParts): TaskKeeper {
  const { log, store, history, now } = parts;
  const tasks = new Map<TaskId, AgentTask>();
  const versions = new Map<TaskId, number>();
  const over = new Set<TaskId>();
  const contaminated = new Set<TaskId>();

  const get = (task: TaskId): AgentTask | undefined => tasks.get(task);
  const need = (task: TaskId): AgentTask => {
    const found = tasks.get(task);
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
    const before = tasks.get(task);
    const version = versions.get(task) ?? 0;
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
    tasks.set(task, next);
    versions.set(task, version + 1);
    const write: DocumentWrite = {
      kind: "task",
      id: task,
      task,
      expect: version,
      body: toJsonObject(next),
    };
    try {
      await log.append(task, events, [write, ...documents], at);
    } catch (error) {
      // Nothing was written: memory goes back to what is durable.
      if (before === undefined) tasks.delete(task);
      else tasks.set(task, before);
      versions.set(task, version);
      throw error;
    }
    return next;
  };

  return Object.freeze({
    async load(): Promise<readonly AgentTask[]> {
      const projected = new Map<TaskId, AgentTask>();
      for (const row of await store.documents({ kind: "task", limit: 100_000 })) {
        const id = TaskId.safeParse(row.id);
        if (id.success) versions.set(id.data, row.version);
        const parsed = AgentTask.safeParse(row.body);
        if (parsed.success) projected.set(parsed.data.id, parsed.data);
      }
      for (const id of new Set([...await history.tasks(), ...projected.keys()])) {
        const last = projected.get(id);
        if (last !== undefined && isFinal(last.status)) {
          tasks.set(id, last);
          continue;
        }
        const found = await rememberTask(history, id);
        const task = found?.task ?? last;
        if (task !== undefined) tasks.set(id, task);
        if (found?.turnOver === true) over.add(id);
        if (found?.contaminated === true) contaminated.add(id);
      }
      return [...tasks.values()];
    },
    get,
    need,
    list: () => [...tasks.values()],
    record,
    turnOver: (task: TaskId) => over.has(task),
    contaminated: (task: TaskId) => contaminated.has(task),
    async recall(task: TaskId): Promise<void> {
      const found = await rememberTask(history, task);
      if (found?.turnOver === true) over.add(task);
      if (found?.contaminated === true) contaminated.add(task);
    },
    strand(task: TaskId, reason: string): void {
      const state = tasks.get(task);
      if (state !== undefined) tasks.set(task, { ...state, reason: reason.slice(0, 2_048) });
    },
    saw(task: TaskId, event: NewEvent & { readonly at: number }): void {
      if (isContaminating(event)) contaminated.add(task);
      if (isTurnOver(over.has(task), event)) over.add(task);
      else over.delete(task);
      const state = tasks.get(task);
      if (state !== undefined) tasks.set(task, foldTask(task, state, event));
    },
  });
}
