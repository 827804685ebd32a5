/** What the operator sees and does of processes: `ps`, `kill`, a task's tools. @module */
import {
  type AgentTask,
  Fault,
  type Pid,
  type ProcessRow,
  type Signal,
  type TaskId,
  type ToolDescriptor,
} from "../../contracts/mod.ts";
import type { OperatorParts } from "./operator.ts";
import type { ProcessTable } from "../process/table.ts";
import type { RunningTasks } from "../task/task_host.ts";
import type { Toolhosts } from "../toolhost/toolhosts.ts";

/** What {@link makeProcessOps} is handed. */
export interface ProcessOpsParts {
  readonly processes: Pick<ProcessTable, "get" | "list">;
  readonly tasks: Pick<RunningTasks, "family" | "need">;
  readonly toolhosts: Pick<Toolhosts, "osPids">;
  advertise(pid: Pid): { readonly tools: readonly ToolDescriptor[] };
}

/** Makes the operations on processes. */
export function makeProcessOps(
  parts: ProcessOpsParts,
): Pick<OperatorParts, "rows" | "osPids" | "signal" | "tools" | "standing"> {
  const { processes, tasks, toolhosts } = parts;
  return Object.freeze({
    rows: () => processes.list().filter(({ status }) => status !== "ended"),
    osPids(row: ProcessRow): readonly number[] {
      const family = tasks.family(row.task);
      const own = family?.osPids(row.pid) ?? [];
      return family?.root.pid === row.pid ? [...own, ...toolhosts.osPids(row.task)] : own;
    },
    async signal(pid: Pid, signal: Signal): Promise<void> {
      const row = processes.get(pid);
      const family = row === undefined ? undefined : tasks.family(row.task);
      if (family === undefined || !await family.signal(pid, signal)) {
        throw new Fault("notFound", `Cannot signal process ${pid}: see "remit ps"`);
      }
    },
    standing: (task: AgentTask): AgentTask =>
      task.status === "open" && tasks.family(task.id)?.root.status === "stopped"
        ? { ...task, status: "blocked" }
        : task,
    tools: (task: TaskId) => parts.advertise(tasks.need(task).root.pid).tools,
  });
}
