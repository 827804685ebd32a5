/**
 * HostedAgentService for one kernel: create, say, cancel, resume, archive, purge, expire.
 * Seed 001, HostedAgentService.
 * @module
 */
import {
  type AgentTask,
  type ChatMessage,
  EXIT,
  EXIT_OF_FAULT,
  Fault,
  type HostedAgentService,
  type PastConversations,
  requestMessage,
  type Staged,
  TaskId,
  TaskRequest,
  toJson,
  type UndoOutcome,
} from "../contracts/mod.ts";
import { makeForks } from "./forks.ts";
import { isFinal } from "./task_fold.ts";
import { makeTaskRuns, type TaskRunsParts } from "./task_runs.ts";

/** What {@link makeHostedAgentService} is handed. */
export interface ServiceParts extends TaskRunsParts {
  readonly harness: string;
  /** Reads back the request of a task that an earlier kernel took. */
  requestOf(task: TaskId): Promise<TaskRequest>;
  /** What the log says of conversations. */
  readonly past: PastConversations;
  /** A question of the task waits for a person. */
  asked(task: TaskId): boolean;
}

/** Makes the service. */
export function makeHostedAgentService(parts: ServiceParts): HostedAgentService {
  const { keeper, host, powers } = parts;
  const runs = makeTaskRuns(parts);

  /** Tasks whose turn under way nobody looks at: it queues what it asks, and ends with that. */
  const alone = new Set<TaskId>();

  const goOn = async (task: TaskId, how: { readonly watched: boolean }): Promise<AgentTask> => {
    const state = keeper.need(task);
    const request = await parts.requestOf(task);
    const open = state.status === "open" ? state : await runs.status(task, { status: "open" });
    if (how.watched) alone.delete(task);
    else alone.add(task);
    runs.run(task, async () => {
      if (runs.hosted(task) === undefined) {
        const started = await runs.start(open, request, true);
        if (alone.has(task)) started.hosted.unattended();
        if (!started.unfinished && request.interactive && keeper.turnOver(task)) return;
      }
      runs.expireLater(open);
      await turn(task, undefined);
    });
    return open;
  };

  const resume = async (task: TaskId, how: { readonly watched: boolean }): Promise<AgentTask> => {
    const state = keeper.need(task);
    checkOpen(state);
    if (!runs.running(task)) return await goOn(task, how);
    const joined = how.watched && alone.delete(task);
    if (joined) runs.hosted(task)?.attended();
    if (state.status !== "needsApproval" && !(joined && parts.asked(task))) return state;
    // The turn that asked is still being put aside.
    await runs.settled(task);
    return keeper.need(task).status === "needsApproval" ? await resume(task, how) : state;
  };

  const turn = async (task: TaskId, message: ChatMessage | undefined): Promise<void> => {
    await runs.turn(task, message);
    // The answer may have come while the turn was still being put aside: nobody else would go on.
    if (keeper.need(task).status !== "needsApproval" || parts.asked(task)) return;
    await goOn(task, { watched: true });
  };

  /** Goes on with a task of an earlier kernel; one that cannot go on is failed, not in the way of others. */
  const recoverTask = async (task: TaskId): Promise<void> => {
    try {
      await keeper.record(task, [{ kind: "recovered", body: {} }]);
      await resume(task, { watched: false });
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

  const forks = makeForks({ ...parts, runs, turn });

  const service: HostedAgentService = {
    async create(input: TaskRequest): Promise<AgentTask> {
      const parsed = TaskRequest.safeParse(input);
      if (!parsed.success) {
        throw new Fault("invalidInput", `Cannot create a task: ${parsed.error.issues[0]?.message}`);
      }
      const request = parsed.data;
      const id = TaskId.parse(powers.id("t"));
      const task = await keeper.record(id, [{
        kind: "taskCreated",
        body: {
          session: request.session,
          principal: request.ingress.principal,
          channel: request.ingress.channel,
          profile: request.profile,
          model: request.model.ref,
          harness: parts.harness,
          interactive: request.interactive,
        },
        private: { request: toJson(request) },
      }]);
      runs.run(id, async () => {
        await runs.start(task, request, false);
        runs.expireLater(task);
        await turn(id, requestMessage(request, request.request));
      });
      return task;
    },

    async say(task, text): Promise<void> {
      const state = keeper.need(task);
      if (runs.running(task)) {
        throw new Fault("conflict", `Cannot say something to task ${task}: a turn is under way`);
      }
      if (state.status !== "open") {
        throw new Fault(
          "conflict",
          `Cannot say something to task ${task}: it is "${state.status}"`,
        );
      }
      const request = runs.request(task) ?? await parts.requestOf(task);
      const next = requestMessage(request, text);
      await keeper.record(task, [{
        kind: "message",
        body: { role: "user" },
        private: { message: toJson(next) },
      }]);
      runs.run(task, async () => {
        if (runs.hosted(task) === undefined) await runs.start(state, request, true);
        await turn(task, next);
      });
    },

    async interrupt(task, second): Promise<void> {
      if (!second) {
        runs.interrupt(task);
        return;
      }
      const state = keeper.need(task);
      if (isFinal(state.status)) return;
      await runs.status(task, {
        status: "cancelled",
        exit: EXIT.interrupted,
        reason: "interrupted twice",
      });
      await runs.release(task, EXIT.interrupted);
    },

    async cancel(task, why): Promise<AgentTask> {
      const state = keeper.need(task);
      checkOpen(state);
      const after = await runs.status(task, {
        status: "cancelled",
        exit: EXIT.failure,
        reason: why,
      });
      await runs.release(task, EXIT.failure);
      return after;
    },

    async resume(task): Promise<AgentTask> {
      // Whoever follows it would wait for a turn that nobody asked for.
      if (keeper.need(task).status === "open" && keeper.turnOver(task) && !runs.running(task)) {
        throw new Fault(
          "conflict",
          `Cannot resume task ${task}: it waits for your next words; say them with "remit -c"`,
        );
      }
      return await resume(task, { watched: true });
    },

    unattended(task): void {
      if (runs.running(task)) alone.add(task);
      runs.hosted(task)?.unattended();
      // A session that nobody looks at gives its processes back; `say` starts them again.
      if (runs.hosted(task) !== undefined && !runs.running(task)) {
        runs.run(task, () => runs.release(task, EXIT.success));
      }
    },

    async archive(task): Promise<AgentTask> {
      const state = keeper.need(task);
      if (!isFinal(state.status)) {
        throw new Fault(
          "conflict",
          `Cannot archive task ${task}: it is "${state.status}"; cancel it first`,
        );
      }
      return await keeper.record(task, [{
        kind: "taskStatus",
        body: { status: state.status, archived: true },
      }]);
    },

    async purge(task): Promise<AgentTask> {
      const state = keeper.need(task);
      if (!isFinal(state.status)) {
        throw new Fault(
          "conflict",
          `Cannot purge task ${task}: it is "${state.status}"; cancel it first`,
        );
      }
      await runs.settled(task);
      const after = await keeper.record(task, [{ kind: "purged", body: {} }]);
      await host.erase(state);
      return after;
    },

    async undo(task): Promise<UndoOutcome> {
      const state = keeper.need(task);
      // Its processes may still be ending.
      if (isFinal(state.status)) await runs.settled(task);
      if (runs.running(task)) {
        throw new Fault("conflict", `Cannot undo task ${task}: a turn is under way`);
      }
      const standing = runs.hosted(task);
      if (standing !== undefined) return await standing.undo();
      const { hosted } = await runs.start(state, await parts.requestOf(task), true);
      try {
        return await hosted.undo();
      } finally {
        await runs.release(task, EXIT.success);
      }
    },

    ...forks,

    async staged(task): Promise<Staged> {
      const state = keeper.need(task);
      const standing = runs.hosted(task);
      return standing === undefined ? await parts.host.staged(state) : standing.staged();
    },

    get: (task) => keeper.need(task),
    list: () => keeper.list(),
    hosted: (task) => runs.hosted(task),

    async recover(): Promise<readonly TaskId[]> {
      const taken: TaskId[] = [];
      for (const { id, status } of await keeper.load()) {
        if (isFinal(status)) continue;
        // An answer that was taken and not acted on is no wait: the call asks anew.
        if (status === "needsApproval" && parts.asked(id)) continue;
        // An idle interactive session is no work: `-c` or `say` goes on with it.
        if (keeper.turnOver(id)) continue;
        taken.push(id);
        await recoverTask(id);
      }
      return taken;
    },

    idle: runs.idle,
    close: runs.close,
  };
  return Object.freeze(service);
}

function checkOpen(task: AgentTask): void {
  if (isFinal(task.status)) {
    throw new Fault("conflict", `Cannot go on with task ${task.id}: it is "${task.status}"`);
  }
}
