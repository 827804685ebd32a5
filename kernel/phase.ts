/** Moves a task to another phase, by its operator's word. Issue 2; seed 000, Policy. @module */
import {
  type AgentTask,
  Fault,
  type HostedAgentService,
  type NewEvent,
  type Phase,
  PHASE_FORBIDS,
  type TaskId,
  type TaskStatus,
} from "../contracts/mod.ts";
import type { ProcessTable } from "./process_table.ts";
import type { RunningTasks } from "./task_host.ts";

/** What {@link makePhaseMove} is handed. */
export interface PhaseParts {
  readonly processes: Pick<ProcessTable, "list" | "setPhase">;
  readonly tasks: Pick<RunningTasks, "family">;
  readonly service: Pick<HostedAgentService, "get">;
  readonly keeper: { record(task: TaskId, events: readonly NewEvent[]): Promise<AgentTask> };
  isFinal(status: TaskStatus): boolean;
}

/**
 * Makes the move: the task, its running processes and what they start are in the phase from their next
 * call on. Rejects `conflict` for a task that has ended.
 */
export function makePhaseMove(
  { processes, tasks, service, keeper, isFinal }: PhaseParts,
): (task: TaskId, phase: Phase) => Promise<AgentTask> {
  const move = async (task: TaskId, phase: Phase): Promise<AgentTask> => {
    const before = service.get(task);
    if (isFinal(before.status)) {
      throw new Fault("conflict", `Cannot move task ${task} to another phase: it has ended`);
    }
    if (before.phase === phase) return before;
    const put = (to: Phase): void => {
      for (const row of processes.list()) if (row.task === task) processes.setPhase(row.pid, to);
      tasks.family(task)?.readvertise();
    };
    const narrows = PHASE_FORBIDS[phase].length > 0;
    // What narrows holds before it is on record, what widens only after.
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
    // Also where it narrows: a process may have begun while the record was written.
    put(phase);
    return after;
  };
  let last: Promise<unknown> = Promise.resolve();
  return (task, phase) => {
    // One after another: the last word is the one that holds, however fast it came.
    const mine = last.then(() => move(task, phase));
    last = mine.catch(() => undefined);
    return mine;
  };
}
