/** Conversations between turns: what gave way is put back, and another task goes on from a turn. @module */
import {
  type AgentTask,
  EXIT,
  Fault,
  type ForkRequest,
  type JsonObject,
  type NewEvent,
  type PastConversations,
  type Powers,
  requestMessage,
  TaskId,
} from "../contracts/mod.ts";
import { createdEvent, type Origin } from "./task/events.ts";
import { isFinal } from "./task/fold.ts";
import type { TaskKeeper } from "./task/keeper.ts";
import type { TaskRuns } from "./task/runs.ts";

/** What {@link makeForks} is handed. */
export interface ForkParts extends Origin {
  readonly keeper: Pick<TaskKeeper, "need" | "record" | "turnOver">;
  readonly runs: Pick<
    TaskRuns,
    "running" | "settled" | "hosted" | "release" | "start" | "run" | "expireLater"
  >;
  readonly powers: Pick<Powers, "id">;
  readonly past: PastConversations;
  /** Runs the first turn. */
  turn(task: TaskId, message: ReturnType<typeof requestMessage>): Promise<void>;
}

/** What a conversation can become between its turns. */
export interface Forks {
  restore(task: TaskId, number: number): Promise<JsonObject>;
  fork(fork: ForkRequest): Promise<AgentTask>;
}

/** Makes them. */
export function makeForks(parts: ForkParts): Forks {
  const { keeper, runs, past } = parts;
  /** Tells whether a turn is under way; one that is just being put aside is not. */
  const underWay = async (task: TaskId): Promise<boolean> => {
    const { status } = keeper.need(task);
    if (isFinal(status) || keeper.turnOver(task)) await runs.settled(task);
    return runs.running(task) || (status !== "open" && !isFinal(status));
  };
  return Object.freeze<Forks>({
    async restore(task: TaskId, number: number): Promise<JsonObject> {
      if (keeper.need(task).purged) {
        throw new Fault("conflict", `Cannot restore: the content of ${task} is erased`);
      }
      if (await underWay(task)) {
        throw new Fault("conflict", `Cannot restore in task ${task}: a turn is under way`);
      }
      const body = await past.restoring(task, number);
      // Its process has the conversation as it was: the next message starts one from the log.
      if (runs.hosted(task) !== undefined) await runs.release(task, EXIT.success);
      await keeper.record(task, [{ kind: "contextRestored", body }]);
      return body;
    },
    async fork(fork: ForkRequest): Promise<AgentTask> {
      const from = keeper.need(fork.task);
      if (from.purged) {
        throw new Fault("conflict", `Cannot fork task ${fork.task}: its content is erased`);
      }
      const under = await underWay(fork.task);
      const { body, private: secret, answer, ...forked } = await past.forking(fork, under);
      // A phase that a person moved the conversation to holds for its fork.
      const request = { ...forked.request, phase: keeper.need(fork.task).phase };
      const id = TaskId.parse(parts.powers.id("t"));
      const made = createdEvent(request, parts);
      const events: NewEvent[] = [{
        kind: "taskCreated",
        body: { ...made.body, ...body },
        private: { ...secret, ...made.private },
      }];
      if (fork.message === undefined) {
        // As a task whose turn is over: nothing runs until something is said to it.
        events.push({ kind: "taskStatus", body: { status: "open" }, private: { answer } });
        return await keeper.record(id, events);
      }
      const task = await keeper.record(id, events);
      runs.run(id, async () => {
        // From its log, where the copy lies.
        await runs.start(task, request, true);
        runs.expireLater(task);
        await parts.turn(id, requestMessage(request, request.request));
      });
      return task;
    },
  });
}
