/** More budget for a task, by its operator's word. @module */
import {
  type AgentTask,
  Fault,
  type HostedAgentService,
  type Limits,
  type NewEvent,
  type TaskId,
  type TaskStatus,
  toJson,
} from "../contracts/mod.ts";
import type { ProcessTable } from "./process_table.ts";
import type { RunningTasks } from "./task_host.ts";

/** What {@link makeExtend} is handed. */
export interface ExtendParts {
  readonly processes: Pick<ProcessTable, "extend">;
  readonly tasks: Pick<RunningTasks, "family">;
  readonly service: Pick<HostedAgentService, "get">;
  readonly keeper: { record(task: TaskId, events: readonly NewEvent[]): Promise<AgentTask> };
  isFinal(status: TaskStatus): boolean;
}

/** Makes `extend`: raises limits now and for what comes. Rejects `conflict` for a task that has ended. */
export function makeExtend(
  { processes, tasks, service, keeper, isFinal }: ExtendParts,
): (task: TaskId, limits: Partial<Limits>) => Promise<AgentTask> {
  return async (task, limits) => {
    if (isFinal(service.get(task).status)) {
      throw new Fault("conflict", `Cannot extend task ${task}: it has ended`);
    }
    const family = tasks.family(task);
    if (family !== undefined) processes.extend(family.root.pid, limits);
    return await keeper.record(task, [{
      kind: "budget",
      body: { actor: "operator", limits: toJson(limits) },
    }]);
  };
}
