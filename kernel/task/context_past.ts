/** Conversations read from their logs, for `remit ctx`, `remit conversation` and forks. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import type {
  ContextRow,
  ConversationRow,
  MessagePage,
} from "../../contracts/task/control_answers.ts";
import type {
  ConversationStore,
  ForkRequest,
  PastConversations,
} from "../../contracts/task/hosting.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import type { Store } from "../../contracts/task/store.ts";
import { type AgentTask, TaskRequest } from "../../contracts/task/task.ts";
import { type ArchivedChange, changeOf, restoring } from "./context/archive.ts";
import { forkOf, type Replay, replayTask } from "./replay.ts";
import type { ReadPrivate } from "../core/log/read_events.ts";

/** The log of all conversations. */
export interface PastParts {
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
}

/** Queries over past conversations. */
export interface ConversationReads extends PastConversations {
  changes(task: TaskId): Promise<readonly ContextRow[]>;
  /** Messages that change `number` removed, from index `from` on. */
  evicted(task: TaskId, number: number, from: number): Promise<MessagePage>;
  /** The conversation after `turn`, or as it is now. Rejects with `notFound` for a turn that did not happen. */
  messages(task: TaskId, turn: number | undefined, from: number): Promise<MessagePage>;
  rows(
    named: ReturnType<ConversationStore["list"]>,
    find: (task: TaskId) => AgentTask | undefined,
  ): Promise<readonly ConversationRow[]>;
}

/** Characters of messages in one page. */
const MAX_PAGE = 300_000;

/** Makes the reader of past conversations. */
export function makePastConversations({ store, readPrivate }: PastParts): ConversationReads {
  const replay = (task: TaskId, until?: number): Promise<Replay> =>
    replayTask(store, readPrivate, task, until);

  /** The task after `turn`; a turn that a fork copied is read in the original task. */
  const after = async (
    task: TaskId,
    turn: number,
  ): Promise<{ readonly task: TaskId; readonly past: Replay }> => {
    const past = await replay(task, turn);
    if (past.fork !== undefined && turn < past.fork.turn) return await after(past.fork.task, turn);
    if (turn > past.turn) {
      throw new Fault(
        "notFound",
        `Cannot find turn ${turn} of task ${task}: it has ${past.turn} of them`,
      );
    }
    return { task, past };
  };

  return Object.freeze<ConversationReads>({
    restoring: async (task: TaskId, number: number) => restoring(await replay(task), number),
    async forking(fork: ForkRequest, before: boolean) {
      const whole = await replay(fork.task);
      const over = whole.turn - (before ? 1 : 0);
      const turn = fork.turn ?? over;
      if (turn < 1 || (turn > over && turn <= whole.turn)) {
        throw new Fault(
          "conflict",
          `Cannot fork turn ${turn} of task ${fork.task}: it is not over`,
        );
      }
      const { task, past } = await after(fork.task, turn);
      const request = TaskRequest.parse({
        ...whole.request,
        request: fork.message ?? whole.request.request,
        session: fork.session,
        ingress: fork.ingress,
        model: fork.model ?? whole.request.model,
        interactive: true,
      });
      const answer = past.conversation.findLast(({ role }) => role === "assistant");
      return {
        request,
        ...forkOf(past, { task, turn, idle: fork.message === undefined }),
        answer: answer?.content ?? "",
      };
    },
    async changes(task: TaskId): Promise<readonly ContextRow[]> {
      const { changes } = await replay(task);
      return changes.map((change) => rowOf(change));
    },
    async evicted(task: TaskId, number: number, from: number): Promise<MessagePage> {
      const change = changeOf((await replay(task)).changes, number);
      return { task, turn: change.turn, ...pageOf(change.replaced, from) };
    },
    async messages(task: TaskId, turn: number | undefined, from: number): Promise<MessagePage> {
      const past = turn === undefined ? await replay(task) : (await after(task, turn)).past;
      return { task, turn: turn ?? past.turn, ...pageOf(past.conversation, from) };
    },
    async rows(named, find): Promise<readonly ConversationRow[]> {
      const rows: ConversationRow[] = [];
      for (const { name, task, expiresAt } of named) {
        const found = find(task);
        // An erased conversation keeps its name until another takes it.
        const past = found === undefined || found.purged ? undefined : await replay(task);
        rows.push({
          ...{ name, task, updatedAt: found?.updatedAt ?? 0, expiresAt: expiresAt ?? null },
          status: past === undefined ? "purged" : found?.status ?? "",
          turns: past?.turn ?? 0,
          from: past?.fork === undefined ? null : { task: past.fork.task, turn: past.fork.turn },
        });
      }
      return rows;
    },
  });
}

function rowOf(change: ArchivedChange): ContextRow {
  const { number, at, method, turn, before, after, preserved, replaced, restored } = change;
  return {
    ...{ number, at, method, turn, before, after, preserved, restored },
    messages: replaced.length,
  };
}

function pageOf(
  messages: readonly ChatMessage[],
  from: number,
): { readonly messages: readonly ChatMessage[]; readonly next: number | null } {
  let size = 0;
  let end = from;
  while (end < messages.length) {
    size += JSON.stringify(messages[end]).length;
    if (size > MAX_PAGE && end > from) break;
    end += 1;
  }
  return { messages: messages.slice(from, end), next: end < messages.length ? end : null };
}
