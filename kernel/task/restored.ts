/**
 * Results of an earlier kernel's calls, for the gate of resumed tasks. Used by task_host.ts; made
 * in kernel/main_work.ts.
 * @module
 */
import type { TaskId } from "../../contracts/authority/ids.ts";
import type { ToolResult } from "../../contracts/tool/tool.ts";
import type { Replay } from "./replay.ts";

/** The gate's lookups for a repeated call. */
export interface Restored {
  put(task: TaskId, replay: Pick<Replay, "finished" | "unfinished">): void;
  finished(task: TaskId): ReadonlyMap<string, ToolResult>;
  unfinished(task: TaskId): ReadonlySet<string>;
  forget(task: TaskId): void;
}

const NO_RESULTS: ReadonlyMap<string, ToolResult> = new Map();
const NO_KEYS: ReadonlySet<string> = new Set();

/** Makes an empty table. */
export function makeRestored(): Restored {
  const table = new Map<TaskId, Pick<Replay, "finished" | "unfinished">>();
  return Object.freeze({
    put: (task: TaskId, replay: Pick<Replay, "finished" | "unfinished">) => {
      table.set(task, replay);
    },
    finished: (task: TaskId) => table.get(task)?.finished ?? NO_RESULTS,
    unfinished: (task: TaskId) => table.get(task)?.unfinished ?? NO_KEYS,
    forget: (task: TaskId) => {
      table.delete(task);
    },
  });
}
