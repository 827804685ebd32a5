/** More budget for a task, by its operator's word. @module */
import { type AgentTask, type Limits, type TaskId, toJson } from "../../contracts/mod.ts";
import { changeable, type OperatorChange } from "./operator_change.ts";
import type { ProcessTable } from "../process/table.ts";

/** What {@link makeExtend} is handed. */
export interface ExtendParts extends OperatorChange {
  readonly processes: Pick<ProcessTable, "extend">;
}

/** Makes `extend`: raises limits now and for what comes. Rejects `conflict` for a task that has ended. */
export function makeExtend(
  parts: ExtendParts,
): (task: TaskId, limits: Partial<Limits>) => Promise<AgentTask> {
  const { processes, tasks, keeper } = parts;
  return async (task, limits) => {
    changeable(parts, task, `extend task ${task}`);
    const after = await keeper.record(task, [{
      kind: "budget",
      body: { actor: "operator", limits: toJson(limits) },
    }]);
    // What widens holds only once it is on record.
    const family = tasks.family(task);
    if (family !== undefined) {
      processes.extend(family.root.pid, limits);
      await family.moreTime();
    }
    return after;
  };
}
