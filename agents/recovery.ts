/** What a kernel that starts takes up of what earlier ones left. DESIGN section 6. @module */
import { type Digest, EXIT_OF_FAULT, Fault, type TaskId } from "../contracts/mod.ts";
import { isFinal } from "./task/fold.ts";
import type { TaskKeeper } from "./task/keeper.ts";
import type { TaskRuns } from "./task/runs.ts";

/** What {@link makeRecovery} is handed. */
export interface RecoveryParts {
  readonly keeper: Pick<TaskKeeper, "load" | "record" | "turnOver" | "strand">;
  readonly runs: Pick<TaskRuns, "running" | "status">;
  /** Digest of the kernel's rules. */
  readonly rules: Digest;
  /** A question of the task waits for a person. */
  asked(task: TaskId): boolean;
  /** Takes up a task that waits for words when something is due for it. */
  look(task: TaskId): void;
  resume(task: TaskId): Promise<unknown>;
}

/** Makes the taking up; it gives the tasks that go on. */
export function makeRecovery(parts: RecoveryParts): () => Promise<readonly TaskId[]> {
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

  return async () => {
    const taken: TaskId[] = [];
    for (const { id, status, rules } of await keeper.load()) {
      parts.look(id);
      if (isFinal(status)) continue;
      // An answer that was taken and not acted on is no wait: the call asks anew.
      if (status === "needsApproval" && parts.asked(id)) continue;
      // An idle interactive session is no work: `-c` or `say` goes on with it.
      if (keeper.turnOver(id)) {
        if (runs.running(id)) taken.push(id);
        continue;
      }
      // A kernel of another place must not carry on what its own place forbids.
      if (rules !== undefined && rules !== parts.rules) {
        keeper.strand(id, `it began under other rules: "remit resume ${id}" goes on with it`);
        continue;
      }
      taken.push(id);
      await recoverTask(id);
    }
    return taken;
  };
}
