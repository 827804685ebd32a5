/** A task as its log tells it, for a kernel that did not see it happen. @module */
import { type AgentTask, Fault, type TaskId } from "../../contracts/mod.ts";
import { type FoldEvent, foldTask, isContaminating, isTurnOver } from "./fold.ts";

/** The logs that earlier kernels left. */
export interface TaskHistory {
  /** Every task that has a log. */
  tasks(): Promise<readonly TaskId[]>;
  /** A task's events, in order. */
  events(task: TaskId): AsyncIterable<FoldEvent>;
}

/** What a task's log comes to. */
export interface Remembered {
  readonly task: AgentTask;
  /** No turn was under way. */
  readonly turnOver: boolean;
  readonly contaminated: boolean;
}

/** Folds a task's whole log; undefined when its content is erased, or does not fold. */
export async function rememberTask(
  history: TaskHistory,
  task: TaskId,
): Promise<Remembered | undefined> {
  let state: AgentTask | undefined;
  let turnOver = false;
  let contaminated = false;
  try {
    for await (const event of history.events(task)) {
      state = foldTask(task, state, event);
      turnOver = isTurnOver(turnOver, event);
      contaminated ||= isContaminating(event);
    }
  } catch (error) {
    if (error instanceof Fault && error.code === "storeCorrupt") return undefined;
    throw error;
  }
  return state === undefined ? undefined : { task: state, turnOver, contaminated };
}
