/** Resumes tasks of earlier kernels when a kernel starts. Used by service.ts. @module */
import { Fault } from "../contracts/base/fault.ts";
import { EXIT_OF_FAULT } from "../contracts/base/fault_exit.ts";
import { OTHER_RULES } from "../contracts/task/task.ts";
import type { Digest, TaskId } from "../contracts/authority/mod.ts";
import type { AgentTask } from "../contracts/task/mod.ts";
import { isFinal } from "./task/fold.ts";
import type { TaskKeeper } from "./task/keeper.ts";
import type { TaskRuns } from "./task/runs.ts";

export interface RecoveryParts {
  readonly keeper: Pick<TaskKeeper, "load" | "record" | "turnOver" | "strand" | "adopt">;
  readonly runs: Pick<TaskRuns, "running" | "status">;
  /** Digest of the kernel's rules. */
  readonly rules: Digest;
  /** Whether a question of the task waits for a person. */
  asked(task: TaskId): boolean;
  /** Whether the last of these questions expired: then the task waits for `resume`, which asks again. */
  unanswered(questions: AgentTask["questions"]): boolean;
  /** Tasks with waiting messages, including finished tasks. */
  waiting?(): readonly TaskId[];
  /** Starts a turn of a waiting task if a message is due for it. */
  look(task: TaskId): void;
  resume(task: TaskId): Promise<unknown>;
}

/** Recovery of tasks. */
export interface Recovery {
  /** Recovers the tasks of earlier kernels of this state; resolves with the resumed ones. */
  recover(): Promise<readonly TaskId[]>;
  /** Recovers a task taken over from another kernel. */
  adopt(task: TaskId): Promise<void>;
}

/** Makes the recovery. */
export function makeRecovery(parts: RecoveryParts): Recovery {
  const { keeper, runs } = parts;

  /** Resumes a task of an earlier kernel; if that fails, the task fails without blocking others. */
  const recoverTask = async (task: TaskId): Promise<void> => {
    try {
      await keeper.record(task, [{ kind: "recovered", body: {} }]);
      await parts.resume(task);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // The store is full: the task stays unchanged, and `resume` continues it once there is room.
      if (error.code === "storeFull") return keeper.strand(task, error.message);
      await runs.status(task, {
        status: "failed",
        exit: EXIT_OF_FAULT[error.code],
        reason: error.message,
      });
    }
  };

  const waits = ({ id, status, questions }: AgentTask): boolean =>
    status === "needsApproval" && (parts.asked(id) || parts.unanswered(questions));

  /** Whether a task must wait because the kernel's rules differ from those it ran under. */
  const isLeft = (task: AgentTask): boolean =>
    !isFinal(task.status) && !waits(task) && !keeper.turnOver(task.id) &&
    task.rules !== undefined && task.rules !== parts.rules;

  const takeUp = async (task: AgentTask, left: boolean): Promise<boolean> => {
    const { id } = task;
    parts.look(id);
    if (isFinal(task.status)) return false;
    // An answer that was stored but not acted on does not count: the call asks again.
    if (waits(task)) return false;
    // An idle interactive session stays idle: `-c` or `say` continues it.
    if (keeper.turnOver(id)) return runs.running(id);
    if (left) return false;
    await recoverTask(id);
    return true;
  };
  const leave = (id: TaskId): void =>
    keeper.strand(id, `${OTHER_RULES}: "remit resume ${id}" goes on with it`);

  const recover = async (): Promise<readonly TaskId[]> => {
    const taken: TaskId[] = [];
    const tasks = await keeper.load();
    // Mark these first, so that requests during the recovery see all of them.
    const left = new Set(tasks.filter(isLeft).map(({ id }) => id));
    for (const id of left) leave(id);
    const open = new Set(tasks.map(({ id }) => id));
    for (const id of new Set(parts.waiting?.() ?? [])) if (!open.has(id)) parts.look(id);
    for (const task of tasks) if (await takeUp(task, left.has(task.id))) taken.push(task.id);
    return taken;
  };

  return Object.freeze<Recovery>({
    recover,
    async adopt(id): Promise<void> {
      const task = await keeper.adopt(id);
      if (task === undefined) return;
      const left = isLeft(task);
      if (left) leave(id);
      await takeUp(task, left);
    },
  });
}
