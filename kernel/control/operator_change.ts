/** What an operator's change of a task is made with: its limits, its phase. @module */
import {
  type AgentTask,
  Fault,
  type HostedAgentService,
  type NewEvent,
  type TaskId,
  type TaskStatus,
} from "../../contracts/mod.ts";
import type { RunningTasks } from "../task/task_host.ts";

/** What such a change is handed, beside the processes that it is a change of. */
export interface OperatorChange {
  readonly tasks: Pick<RunningTasks, "family">;
  readonly service: Pick<HostedAgentService, "get">;
  readonly keeper: { record(task: TaskId, events: readonly NewEvent[]): Promise<AgentTask> };
  isFinal(status: TaskStatus): boolean;
}

/** The task as it is before a change. Throws `conflict`, in the words "Cannot `what`", for one that has ended. */
export function changeable(
  { service, isFinal }: Pick<OperatorChange, "service" | "isFinal">,
  task: TaskId,
  what: string,
): AgentTask {
  const before = service.get(task);
  if (!isFinal(before.status)) return before;
  throw new Fault("conflict", `Cannot ${what}: it has ended`);
}
