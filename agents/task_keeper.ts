/** The only writer of task state: every change is an event and its projection in one commit. @module */
import {
  AgentTask,
  type DocumentWrite,
  type EventLog,
  Fault,
  type NewEvent,
  type Store,
  type TaskId,
  toJsonObject,
} from "../contracts/mod.ts";
import { checkTransition, foldTask } from "./task_fold.ts";

/** What {@link makeTaskKeeper} is handed. */
export interface TaskKeeperParts {
  readonly log: EventLog;
  readonly store: Pick<Store, "documents">;
  now(): number;
}

/** Task records in memory, written through. */
export interface TaskKeeper {
  /** Loads the projections that an earlier kernel left. */
  load(): Promise<readonly AgentTask[]>;
  get(task: TaskId): AgentTask | undefined;
  /** Like `get`, but throws `notFound`. */
  need(task: TaskId): AgentTask;
  list(): readonly AgentTask[];
  /** Appends events that change the task; resolves when durable. */
  record(task: TaskId, events: readonly NewEvent[]): Promise<AgentTask>;
  /** A call of the task was refused for its colour under `strict` (exit 69). */
  contaminated(task: TaskId): boolean;
  /** Folds an event that somebody else committed. */
  saw(task: TaskId, event: NewEvent & { readonly at: number }): void;
}

/** Makes the keeper of task records. */
export function makeTaskKeeper(parts: TaskKeeperParts): TaskKeeper {
  const { log, store, now } = parts;
  const tasks = new Map<TaskId, AgentTask>();
  const versions = new Map<TaskId, number>();
  const contaminated = new Set<TaskId>();

  const get = (task: TaskId): AgentTask | undefined => tasks.get(task);
  const need = (task: TaskId): AgentTask => {
    const found = tasks.get(task);
    if (found === undefined) {
      throw new Fault("notFound", `Cannot find task "${task}": list them with "remit task show"`);
    }
    return found;
  };

  const record = async (task: TaskId, events: readonly NewEvent[]): Promise<AgentTask> => {
    const before = tasks.get(task);
    const version = versions.get(task) ?? 0;
    let next = before;
    for (const event of events) {
      const folded = foldTask(task, next, { ...event, at: now() });
      if (next !== undefined) checkTransition(task, next.status, folded.status);
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
      await log.append(task, events, [write]);
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
      for (const row of await store.documents({ kind: "task", limit: 100_000 })) {
        const parsed = AgentTask.safeParse(row.body);
        if (!parsed.success) continue;
        tasks.set(parsed.data.id, parsed.data);
        versions.set(parsed.data.id, row.version);
      }
      return [...tasks.values()];
    },
    get,
    need,
    list: () => [...tasks.values()],
    record,
    contaminated: (task: TaskId) => contaminated.has(task),
    saw(task: TaskId, event: NewEvent & { readonly at: number }): void {
      if (event.kind === "refused" && event.body["code"] === "contaminated") contaminated.add(task);
      const state = tasks.get(task);
      if (state !== undefined) tasks.set(task, foldTask(task, state, event));
    },
  });
}
