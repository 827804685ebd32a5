/** Moves a task to another phase, by its operator's word. @module */
import { type AgentTask, type Phase, PHASE_FORBIDS, type TaskId } from "../../contracts/mod.ts";
import { changeable, type OperatorChange } from "./operator_change.ts";
import type { ProcessTable } from "../process/table.ts";

/** What {@link makePhaseMove} is handed. */
export interface PhaseParts extends OperatorChange {
  readonly processes: Pick<ProcessTable, "list" | "setPhase">;
}

/**
 * Makes the move: the task, its running processes and what they start are in the phase from their next
 * call on. Rejects `conflict` for a task that has ended.
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
