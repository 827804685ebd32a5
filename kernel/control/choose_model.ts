/** A person's `/model`: for a process that stands from its next inference on, else for the next one to start. @module */
import {
  type EventLog,
  Fault,
  type HostedAgentService,
  type ModelChoice,
  type TaskId,
} from "../../contracts/mod.ts";
import { modelChosen } from "../model/switch.ts";
import type { RunningTasks } from "../task/task_host.ts";

/** Makes the choice of a task's model. Rejects `conflict` for a task that is over. */
export function chooseModel(
  { tasks, service, log }: {
    readonly tasks: Pick<RunningTasks, "family">;
    readonly service: Pick<HostedAgentService, "get">;
    readonly log: Pick<EventLog, "append">;
  },
): (task: TaskId, model: ModelChoice) => Promise<void> {
  return async (task, model) => {
    const family = tasks.family(task);
    if (family !== undefined) return family.choose(model);
    const { status } = service.get(task);
    if (status !== "open" && status !== "needsApproval") {
      throw new Fault("conflict", `Cannot change the model of task ${task}: it is "${status}"`);
    }
    await log.append(task, [modelChosen(model)]);
  };
}
