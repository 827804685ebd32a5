/**
 * HostedAgentService for one kernel: create, say, cancel, resume, archive, purge, expire.
 * Seed 001, HostedAgentService.
 * @module
 */
import {
  type AgentTask,
  EXIT,
  Fault,
  type HostedAgentService,
  requestMessage,
  type Staged,
  TaskId,
  TaskRequest,
  toJson,
  type UndoOutcome,
} from "../contracts/mod.ts";
import { isFinal } from "./task_fold.ts";
import { makeTaskRuns, type TaskRunsParts } from "./task_runs.ts";

/** What {@link makeHostedAgentService} is handed. */
export interface ServiceParts extends TaskRunsParts {
  readonly harness: string;
  /** Reads back the request of a task that an earlier kernel took. */
  requestOf(task: TaskId): Promise<TaskRequest>;
}

/** Makes the service. */
export function makeHostedAgentService(parts: ServiceParts): HostedAgentService {
  const { keeper, host, powers } = parts;
  const runs = makeTaskRuns(parts);
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
        await runs.turn(id, requestMessage(request, request.request));
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
        await runs.turn(task, next);
      });
    },

    async interrupt(task, second): Promise<void> {
      if (!second) {
        runs.hosted(task)?.interrupt();
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
      const state = keeper.need(task);
      checkOpen(state);
      if (runs.running(task)) return state;
      const request = await parts.requestOf(task);
      const open = state.status === "open" ? state : await runs.status(task, { status: "open" });
      runs.run(task, async () => {
        if (runs.hosted(task) === undefined) {
          const started = await runs.start(open, request, true);
          if (!started.unfinished && request.interactive) return;
        }
        runs.expireLater(open);
        await runs.turn(task, undefined);
      });
      return open;
    },

    unattended(task): void {
      runs.hosted(task)?.unattended();
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
      const after = await keeper.record(task, [{ kind: "purged", body: {} }]);
      await host.erase(state);
      return after;
    },

    async undo(task): Promise<UndoOutcome> {
      const state = keeper.need(task);
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
      for (const task of await keeper.load()) {
        if (task.status !== "open" && task.status !== "reviewing") continue;
        const request = await parts.requestOf(task.id);
        // An idle interactive session is no work: `-c` or `say` goes on with it.
        taken.push(task.id);
        await keeper.record(task.id, [{ kind: "recovered", body: {} }]);
        if (!request.interactive) await service.resume(task.id);
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
