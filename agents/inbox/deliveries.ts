/**
 * Messages of an inbox, put into conversations between turns: what shows them to the model and what marks them as
 * delivered is one commit, so that each is shown once, whenever the kernel dies.
 * @module
 */
import {
  type ChatMessage,
  EXIT,
  type InboxEntry,
  type Powers,
  type TaskId,
  type TaskRequest,
  toJson,
} from "../../contracts/mod.ts";
import type { Inbox } from "./inbox.ts";
import { frameMessages } from "./frame.ts";
import { taskOfBox } from "./judge.ts";
import { isFinal } from "../task/fold.ts";
import type { TaskKeeper } from "../task/keeper.ts";
import type { TaskRuns } from "../task/runs.ts";

/** What {@link makeDeliveries} is handed. */
export interface DeliveryParts {
  readonly keeper: Pick<TaskKeeper, "get" | "record" | "turnOver">;
  readonly runs: Pick<
    TaskRuns,
    "running" | "hosted" | "request" | "run" | "start" | "release" | "expireLater" | "interrupt"
  >;
  readonly powers: Pick<Powers, "reach">;
  readonly inbox: Pick<Inbox, "due" | "delivering" | "over">;
  requestOf(task: TaskId): Promise<TaskRequest>;
  /** Runs a turn to its status. */
  turn(task: TaskId, message: ChatMessage): Promise<void>;
  /** Nobody looks at the task from now on. */
  leave(task: TaskId): void;
  /** Nobody looks at it. */
  alone(task: TaskId): boolean;
  /** No turn is under way, and nothing is due. */
  rested?(task: TaskId): void;
}

/** Deliveries into conversations. */
export interface Deliveries {
  /** Takes up a task that waits for words when something is due for it. */
  look(task: TaskId): void;
  /** Something came in. An interrupt cancels what is under way in an interactive task. */
  arrived(entry: InboxEntry): void;
  /** What a task is shown before it may end; undefined when nothing is due. */
  more(task: TaskId): Promise<ChatMessage | undefined>;
  /** A turn is over: where nobody waits at a terminal for the next words, its processes are given back. */
  rest(task: TaskId): Promise<void>;
  /** Keeps deliveries away from a task while somebody else begins something with it. */
  engaged<T>(task: TaskId, work: () => Promise<T>): Promise<T>;
}

/** Makes them. */
export function makeDeliveries(parts: DeliveryParts): Deliveries {
  const { keeper, runs, inbox, powers } = parts;
  const engaged = new Map<TaskId, number>();

  const more = async (task: TaskId): Promise<ChatMessage | undefined> => {
    const due = inbox.due(task);
    if (due.length === 0) return undefined;
    const message = frameMessages(due);
    const { colour, label } = message.provenance;
    const ids = due.map(({ id }) => id);
    const marking = inbox.delivering(ids, task);
    powers.reach("beforeDelivery");
    try {
      await keeper.record(task, [
        {
          kind: "message",
          body: { role: "user", inbox: ids, colour, label },
          private: { message: toJson(message) },
        },
        ...marking.events,
      ], marking.documents);
    } catch (error) {
      marking.dropped();
      throw error;
    }
    marking.kept();
    powers.reach("afterDelivery");
    return message;
  };

  const deliver = async (task: TaskId): Promise<void> => {
    const message = await more(task);
    const state = keeper.get(task);
    if (message === undefined || state === undefined || isFinal(state.status)) return;
    if (runs.hosted(task) === undefined) {
      parts.leave(task);
      const { hosted } = await runs.start(state, await parts.requestOf(task), true);
      hosted.unattended();
    }
    runs.expireLater(state);
    try {
      await parts.turn(task, message);
    } catch (error) {
      if (parts.alone(task)) await runs.release(task, EXIT.failure);
      throw error;
    }
  };

  const rest = async (task: TaskId): Promise<void> => {
    const over = keeper.get(task)?.status === "open" && keeper.turnOver(task);
    const rests = over && parts.alone(task) && inbox.due(task).length === 0;
    if (rests && runs.hosted(task) !== undefined) await runs.release(task, EXIT.success);
  };

  const look = (task: TaskId): void => {
    const state = keeper.get(task);
    if (state === undefined || runs.running(task) || engaged.has(task)) return;
    if (isFinal(state.status)) {
      // What cannot be written now is written by the next kernel, which looks at every task.
      inbox.over(task).catch(() => undefined);
      return;
    }
    if (state.status !== "open" || !keeper.turnOver(task)) return;
    if (inbox.due(task).length === 0) parts.rested?.(task);
    else runs.run(task, () => deliver(task));
  };

  return Object.freeze<Deliveries>({
    look,
    more,
    rest,
    arrived({ box, message }: InboxEntry): void {
      const task = taskOfBox(box);
      if (task === undefined) return;
      if (!runs.running(task)) look(task);
      else if (message.kind === "interrupt" && runs.request(task)?.interactive === true) {
        runs.interrupt(task);
      }
    },
    async engaged<T>(task: TaskId, work: () => Promise<T>): Promise<T> {
      engaged.set(task, (engaged.get(task) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const left = (engaged.get(task) ?? 1) - 1;
        if (left > 0) engaged.set(task, left);
        else engaged.delete(task);
        look(task);
      }
    },
  });
}
