/** What a kernel that starts takes up of what earlier ones left. @module */
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
  /** A question of the task waits for a person. */
  asked(task: TaskId): boolean;
  /** Nobody answered the last of these in time: the task waits for `resume`, which asks it again. */
  unanswered(questions: AgentTask["questions"]): boolean;
  /** Tasks for which something waits in an inbox, also of those that are over. */
  waiting?(): readonly TaskId[];
  /** Takes up a task that waits for words when something is due for it. */
  look(task: TaskId): void;
  resume(task: TaskId): Promise<unknown>;
}

/** The taking up. */
export interface Recovery {
  /** Of what earlier kernels of this state left; gives the tasks that go on. */
  recover(): Promise<readonly TaskId[]>;
  /** Of a task that another kernel had and this one has now. */
  adopt(task: TaskId): Promise<void>;
}

/** Makes the taking up. */
export function makeRecovery(parts: RecoveryParts): Recovery {
  const { keeper, runs } = parts;

  /** Goes on with a task of an earlier kernel; one that cannot go on is failed, not in the way of others. */
  const recoverTask = async (task: TaskId): Promise<void> => {
    try {
      await keeper.record(task, [{ kind: "recovered", body: {} }]);
      await parts.resume(task);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // Nothing can be written: it stays as it is, and `resume` goes on with it once there is room.
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

  /** A kernel of another place must not carry on what its own place forbids. */
  const isLeft = (task: AgentTask): boolean =>
    !isFinal(task.status) && !waits(task) && !keeper.turnOver(task.id) &&
    task.rules !== undefined && task.rules !== parts.rules;

  const takeUp = async (task: AgentTask, left: boolean): Promise<boolean> => {
    const { id } = task;
    parts.look(id);
    if (isFinal(task.status)) return false;
    // An answer that was taken and not acted on is no wait: the call asks anew.
    if (waits(task)) return false;
    // An idle interactive session is no work: `-c` or `say` goes on with it.
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
    // First, so that whoever asks while others are taken up is told of all.
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
