/** The operator's changes of a task: limits, phase, model, signals. Wired in kernel/main_work.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { toJson } from "../../contracts/base/json.ts";
import type { Limits } from "../../contracts/task/budget.ts";
import type { NewEvent } from "../../contracts/task/event.ts";
import type { HostedAgentService } from "../../contracts/task/hosting.ts";
import type { Pid, TaskId } from "../../contracts/authority/ids.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { Signal } from "../../contracts/task/signal.ts";
import type { EventLog } from "../../contracts/task/store.ts";
import {
  type AgentTask,
  type ModelChoice,
  type Phase,
  PHASE_FORBIDS,
  type TaskStatus,
} from "../../contracts/task/task.ts";
import type { ToolDescriptor } from "../../contracts/tool/tool.ts";
import { modelChosen } from "../power/model/switch.ts";
import type { ProcessTable } from "../core/process/table.ts";
import type { RunningTasks } from "../task/task_host.ts";
import type { Toolhosts } from "../power/toolhost/toolhosts.ts";
import type { OperatorParts } from "./operator.ts";

/** The tasks and their keeper, as a change needs them. */
interface OperatorChange {
  readonly tasks: Pick<RunningTasks, "family">;
  readonly service: Pick<HostedAgentService, "get">;
  readonly keeper: { record(task: TaskId, events: readonly NewEvent[]): Promise<AgentTask> };
  isFinal(status: TaskStatus): boolean;
}

/** The task before a change. Throws `conflict`, with "Cannot `what`", for an ended task. */
function changeable(
  { service, isFinal }: Pick<OperatorChange, "service" | "isFinal">,
  task: TaskId,
  what: string,
): AgentTask {
  const before = service.get(task);
  if (!isFinal(before.status)) return before;
  throw new Fault("conflict", `Cannot ${what}: it has ended`);
}

interface ExtendParts extends OperatorChange {
  readonly processes: Pick<ProcessTable, "extend">;
}

/** Makes `extend`, which raises a task's limits. Rejects with `conflict` for an ended task. */
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
    // A widening change applies only after it is logged.
    const family = tasks.family(task);
    if (family !== undefined) {
      processes.extend(family.root.pid, limits);
      await family.moreTime();
    }
    return after;
  };
}

/** The processes and tasks of a change of phase. */
export interface PhaseParts extends OperatorChange {
  readonly processes: Pick<ProcessTable, "list" | "setPhase">;
}

/**
 * Makes the change of a task's phase, which applies to the task, its running processes and later
 * children from their next call on. Rejects with `conflict` for an ended task.
 */
export function makePhaseMove(
  parts: PhaseParts,
): (task: TaskId, phase: Phase) => Promise<AgentTask> {
  const { processes, tasks, keeper } = parts;
  const move = async (task: TaskId, phase: Phase): Promise<AgentTask> => {
    const before = changeable(parts, task, `move task ${task} to another phase`);
    if (before.phase === phase) return before;
    const put = (to: Phase): void => {
      for (const row of processes.list()) if (row.task === task) processes.setPhase(row.pid, to);
      tasks.family(task)?.readvertise();
    };
    const narrows = PHASE_FORBIDS[phase].length > 0;
    // A narrowing change applies before it is logged, a widening one only after.
    if (narrows) put(phase);
    let after: AgentTask;
    try {
      after = await keeper.record(task, [{
        kind: "phase",
        body: { actor: "operator", phase, before: before.phase },
      }]);
    } catch (error) {
      if (narrows) put(before.phase);
      throw error;
    }
    // For a narrowing change too: a process may have started while the event was written.
    put(phase);
    return after;
  };
  let last: Promise<unknown> = Promise.resolve();
  return (task, phase) => {
    // One change at a time, so that the last request decides.
    const mine = last.then(() => move(task, phase));
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** Makes the choice of a task's model. Rejects with `conflict` for a finished task. */
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

interface ProcessOpsParts {
  readonly processes: Pick<ProcessTable, "get" | "list">;
  readonly tasks: Pick<RunningTasks, "family" | "need">;
  readonly toolhosts: Pick<Toolhosts, "osPids">;
  advertise(pid: Pid): { readonly tools: readonly ToolDescriptor[] };
}

/** Makes the operator's operations on processes. */
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
