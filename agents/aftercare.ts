/** What is done with a task beside its turns: archived, purged, its last change taken back. @module */
import {
  type AgentTask,
  EXIT,
  Fault,
  type HostedAgentService,
  type TaskId,
  type UndoOutcome,
} from "../contracts/mod.ts";
import type { Deliveries } from "./inbox/deliveries.ts";
import type { Inbox } from "./inbox/inbox.ts";
import { isFinal } from "./task/fold.ts";
import type { TaskRuns, TaskRunsParts } from "./task/runs.ts";

/** What {@link makeAftercare} is handed. */
export interface AftercareParts extends Pick<TaskRunsParts, "keeper" | "host" | "requestOf"> {
  readonly inbox?: Pick<Inbox, "forget">;
  readonly runs: Pick<TaskRuns, "settled" | "running" | "hosted" | "start" | "release">;
  readonly engaged: Deliveries["engaged"];
}

/** Makes it. Each rejects `conflict` for a task that is not so far. */
export function makeAftercare(
  { keeper, host, requestOf, inbox, runs, engaged }: AftercareParts,
): Pick<HostedAgentService, "archive" | "purge" | "undo"> {
  const ended = (task: TaskId, verb: string): AgentTask => {
    const state = keeper.need(task);
    if (isFinal(state.status)) return state;
    throw new Fault(
      "conflict",
      `Cannot ${verb} task ${task}: it is "${state.status}"; cancel it first`,
    );
  };
  return {
    async archive(task): Promise<AgentTask> {
      const state = ended(task, "archive");
      return await keeper.record(task, [{
        kind: "taskStatus",
        body: { status: state.status, archived: true },
      }]);
    },

    async purge(task): Promise<AgentTask> {
      const state = ended(task, "purge");
      await runs.settled(task);
      await inbox?.forget(task);
      const after = await keeper.record(task, [{ kind: "purged", body: {} }]);
      await host.erase(state);
      return after;
    },

    async undo(task, files): Promise<UndoOutcome> {
      const state = keeper.need(task);
      checkKept(state, "undo");
      // Its processes may still be ending.
      if (isFinal(state.status)) await runs.settled(task);
      if (runs.running(task)) {
        throw new Fault("conflict", `Cannot undo task ${task}: a turn is under way`);
      }
      return await engaged(task, async () => {
        const standing = runs.hosted(task);
        if (standing !== undefined) return await standing.undo(files);
        const { hosted } = await runs.start(state, await requestOf(task), true);
        try {
          return await hosted.undo(files);
        } finally {
          await runs.release(task, EXIT.success);
        }
      });
    },
  };
}

/** What was purged is not taken for a log that is damaged. Throws Fault `conflict`. */
export function checkKept({ id, purged }: AgentTask, verb: string): void {
  if (purged) throw new Fault("conflict", `Cannot ${verb} task ${id}: its content is erased`);
}
