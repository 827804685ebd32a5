/**
 * HostedAgentService for one kernel: create, say, cancel, resume, archive, purge, expire.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";
import { TaskId } from "../contracts/authority/ids.ts";
import { EXIT } from "../contracts/base/fault_exit.ts";
import type { ChatMessage } from "../contracts/model/chat.ts";
import type { Staged } from "../contracts/task/control_answers.ts";
import type {
  HostedAgentService,
  NewTask,
  PastConversations,
  UndoOutcome,
} from "../contracts/task/hosting.ts";
import {
  type AgentTask,
  isResumable,
  requestMessage,
  TaskRequest,
} from "../contracts/task/task.ts";
import { makeForks } from "./conversations.ts";
import { type Deliveries, makeDeliveries } from "./post/inbox/deliveries.ts";
import type { Inbox } from "./post/inbox/inbox.ts";
import { makeRecovery } from "./recovery.ts";
import { lastStatus } from "./task/ending.ts";
import { createdEvent, isFinal, type Origin, saidEvent } from "./task/fold.ts";
import { makeTaskRuns, type TaskCompany, type TaskRuns, type TaskRunsParts } from "./task/runs.ts";

/** The parts of {@link makeHostedAgentService}. */
export interface ServiceParts extends Omit<TaskRunsParts, "more" | "over">, Origin {
  /** Access to conversations in the log. */
  readonly past: PastConversations;
  /** Whether a question of the task waits for a person. */
  asked(task: TaskId): boolean;
  /** Whether the last of these questions has expired. */
  unanswered(questions: AgentTask["questions"]): boolean;
  /** The tasks' inboxes; absent: none. */
  readonly inbox?: Pick<Inbox, "due" | "delivering" | "over" | "forget">;
  /** Tasks with waiting messages. */
  waiting?(): readonly TaskId[];
  /** Called when an open task has no running turn and no due message. */
  rested?(task: TaskId): void;
  /** A task that was over is resumed: what it used before counts in its budgets again. */
  recount?(task: TaskId): Promise<void>;
}

/** The service with its internal interface. */
export interface AgentService extends HostedAgentService {
  /** Handles a due message: shown at the task's next turn, which starts now if none is running. */
  readonly arrived: Deliveries["arrived"];
  /** Continues a task taken over from another kernel. */
  adopt(task: TaskId): Promise<void>;
  /** Drops a task that another kernel has taken over, and ends its processes. */
  lose(task: TaskId): Promise<void>;
  /** Finishes a task, committing `more` (of the finished task) together with its end. */
  finish(task: TaskId, more?: (done: AgentTask) => TaskCompany): Promise<AgentTask>;
}

/** Makes the hosted agent service. */
export function makeHostedAgentService(parts: ServiceParts): AgentService {
  const { keeper, powers } = parts;
  const runs = makeTaskRuns({
    ...parts,
    more: (task) => deliveries.more(task),
    over: (task) => deliveries.look(task),
  });

  /** Unattended running tasks: their turns queue questions and end with them. */
  const alone = new Set<TaskId>();

  const proceed = async (task: TaskId, how: { readonly watched: boolean }): Promise<AgentTask> => {
    const state = keeper.need(task);
    const request = await parts.requestOf(task);
    const open = state.status === "open" ? state : await runs.status(task, {
      status: "open",
      ...(state.status === "failed" ? { resumed: true } : {}),
    });
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
    if (isResumable(state)) {
      // The failed turn may still be ending.
      if (runs.running(task)) await runs.settled(task);
      await keeper.recall(task);
      await parts.recount?.(task);
      return await proceed(task, how);
    }
    checkOpen(state, "go on with");
    if (!runs.running(task)) return await proceed(task, how);
    const joined = how.watched && alone.has(task);
    const aside = joined && parts.asked(task);
    if (joined && !aside) {
      alone.delete(task);
      runs.hosted(task)?.attended();
    }
    if (state.status !== "needsApproval" && !aside) return state;
    // The turn that asked is still ending. If it were attended now, it could wait for an answer
    // from the very caller that waits here.
    await runs.settled(task);
    return keeper.need(task).status === "needsApproval" ? await resume(task, how) : state;
  };

  const turn = async (task: TaskId, message: ChatMessage | undefined): Promise<void> => {
    await runs.turn(task, message);
    // The answer may have come while the turn was ending: then continue here.
    const over = keeper.need(task).status !== "needsApproval" || parts.asked(task);
    await (over ? deliveries.rest(task) : proceed(task, { watched: true }));
  };

  const forks = makeForks({ ...parts, runs, turn });
  const deliveries = makeDeliveries({
    ...{ ...parts, runs, turn, inbox: parts.inbox ?? NO_INBOX },
    leave: (task) => void alone.add(task),
    alone: (task) => alone.has(task),
  });

  const recovery = makeRecovery({
    ...{ ...parts, runs, look: deliveries.look },
    resume: (task) => resume(task, { watched: false }),
  });

  const service: AgentService = {
    arrived: deliveries.arrived,
    async create(input: TaskRequest, more: NewTask = {}): Promise<AgentTask> {
      const parsed = TaskRequest.safeParse(input);
      if (!parsed.success) {
        throw new Fault("invalidInput", `Cannot create a task: ${parsed.error.issues[0]?.message}`);
      }
      const request = parsed.data;
      const id = more.id ?? TaskId.parse(powers.id("t"));
      const made = createdEvent(request, parts);
      const task = await keeper.record(id, [made, ...more.events ?? []], more.documents);
      runs.run(id, async () => {
        await runs.start(task, request, false);
        runs.expireLater(task);
        await turn(id, requestMessage(request, request.request));
      });
      return task;
    },

    async finish(task, more): Promise<AgentTask> {
      // A finished turn may still be cleaning up.
      if (keeper.turnOver(task)) await runs.settled(task);
      const state = keeper.need(task);
      const { status } = state;
      if (runs.running(task) || status !== "open" || !keeper.turnOver(task)) {
        throw new Fault("conflict", `Cannot finish task ${task}: it is "${status}" and at work`);
      }
      const last = lastStatus(keeper.contaminated(task));
      const after = await runs.status(task, last, more?.({ ...state, ...last }));
      // Do not make the caller wait for the processes to end.
      runs.run(task, () => runs.release(task, last.exit));
      return after;
    },

    async say(task, text, attached): Promise<void> {
      const state = keeper.need(task);
      const busy = runs.running(task) ? "a turn is under way" : `it is "${state.status}"`;
      if (runs.running(task) || state.status !== "open") {
        throw new Fault("conflict", `Cannot say something to task ${task}: ${busy}`);
      }
      await deliveries.engaged(task, async () => {
        const request = runs.request(task) ?? await parts.requestOf(task);
        const next = requestMessage(request, text, attached);
        await keeper.record(task, [saidEvent(next)]);
        alone.delete(task);
        runs.run(task, async () => {
          if (runs.hosted(task) === undefined) await runs.start(state, request, true);
          runs.expireLater(state);
          await turn(task, next);
        });
      });
    },

    async interrupt(task, ends): Promise<void> {
      if (ends === undefined) {
        runs.interrupt(task);
        return;
      }
      const state = keeper.need(task);
      if (isFinal(state.status)) return;
      await runs.status(task, {
        status: "cancelled",
        exit: EXIT.interrupted,
        reason: ends,
      });
      await runs.release(task, EXIT.interrupted);
    },

    async cancel(task, why): Promise<AgentTask> {
      const state = keeper.need(task);
      checkOpen(state, "cancel");
      const after = await runs.status(task, {
        status: "cancelled",
        exit: EXIT.failure,
        reason: why,
      });
      await runs.release(task, EXIT.failure);
      deliveries.look(task);
      return after;
    },

    async resume(task): Promise<AgentTask> {
      // A follower would wait for a turn that never starts.
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
      // An unattended session releases its processes; `say` starts them again.
      if (runs.hosted(task) !== undefined && !runs.running(task)) {
        runs.run(task, () => runs.release(task, EXIT.success));
      }
    },

    ...makeAftercare({ ...parts, runs, engaged: deliveries.engaged }),
    ...forks,
    restore: (task, number) => deliveries.engaged(task, () => forks.restore(task, number)),

    async staged(task): Promise<Staged> {
      const state = keeper.need(task);
      checkKept(state, "show the changes of");
      const standing = runs.hosted(task);
      return standing === undefined ? await parts.host.staged(state) : standing.staged();
    },

    get: (task) => keeper.need(task),
    find: keeper.get,
    list: keeper.list,
    hosted: (task) => runs.hosted(task),

    recover: recovery.recover,
    adopt: recovery.adopt,
    async lose(task): Promise<void> {
      keeper.lose(task);
      await runs.release(task, EXIT.failure);
    },

    idle: runs.idle,
    close: runs.close,
  };
  return Object.freeze(service);
}

const NO_INBOX: Pick<Inbox, "due" | "delivering" | "over"> = {
  due: () => [],
  delivering: () => ({
    events: [],
    documents: [],
    kept: () => undefined,
    dropped: () => undefined,
  }),
  over: () => Promise.resolve(),
};

function checkOpen(task: AgentTask, verb: string): void {
  if (isFinal(task.status)) {
    throw new Fault("conflict", `Cannot ${verb} task ${task.id}: it is "${task.status}"`);
  }
}

export interface AftercareParts extends Pick<TaskRunsParts, "keeper" | "host" | "requestOf"> {
  readonly inbox?: Pick<Inbox, "forget">;
  readonly runs: Pick<TaskRuns, "settled" | "running" | "hosted" | "start" | "release">;
  readonly engaged: Deliveries["engaged"];
}

/** Operations after a task's turns. Each rejects `conflict` if the task is not ready for it. */
function makeAftercare(
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
      // The processes may still be ending.
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

/** Throws Fault `conflict` for a purged task, which would otherwise look like a damaged log. */
function checkKept({ id, purged }: AgentTask, verb: string): void {
  if (purged) throw new Fault("conflict", `Cannot ${verb} task ${id}: its content is erased`);
}
