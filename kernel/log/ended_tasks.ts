/** Which tasks ended since somebody last asked: of this kernel's life, the newest few thousand. @module */
import { type EndedTasks, TASK_TRANSITIONS, TaskId, TaskStatus } from "../../contracts/mod.ts";
import type { Published } from "./bus.ts";

const MOST = 4_096;

/** What remembers them. */
export interface EndedList {
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
      if (list.length > MOST) gone += list.splice(0, list.length - MOST).length;
    },
    since(after): EndedTasks {
      const next = gone + list.length;
      if (after === null || after > next) return { tasks: [], next };
      return { tasks: list.slice(Math.max(0, after - gone)), next };
    },
  });
}
