/**
 * HostedAgentService, and what it needs from the kernel.
 * @module
 */
import * as z from "zod";
import type { ChatMessage } from "../model/chat.ts";
import { type Digest, Millis, type QuestionId, type SessionId, TaskId } from "../authority/ids.ts";
import type { AgentTask, Ingress, TaskRequest, TaskStatus } from "./task.ts";
import type { JsonObject } from "../base/json.ts";
import type { NewEvent } from "./event.ts";
import type { DocumentWrite } from "./store.ts";
import type { Conflict } from "../tool/workspace.ts";
import type { Staged } from "./control_answers.ts";
import type { TurnEnd } from "../wire/wire_worker.ts";

/** How a turn ended: by the worker, waiting for a person, or by a signal. */
export type TurnOutcome =
  /** `died`: the process died; the next turn starts another. */
  | (TurnEnd & { readonly died?: true })
  | { readonly stop: "killed"; readonly exit: number; readonly text: string }
  | { readonly stop: "waiting"; readonly question: QuestionId; readonly text: string };

/** The name of the exhausted limit, if that ended the turn. */
export interface UsedUp {
  readonly limit?: string;
}

/** The result of the review at the end of a turn. */
export type ReviewOutcome =
  | { readonly kind: "nothing" }
  | { readonly kind: "applied"; readonly patch: Digest }
  /** `failed`: not denied, but the changes could not be applied to the folder. */
  | { readonly kind: "kept"; readonly why: string; readonly failed?: true }
  | { readonly kind: "waiting"; readonly question: QuestionId };

/** The result of undoing the newest applied patch, or single files. */
export interface UndoOutcome {
  readonly undone: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** Number of patches still applied, which further undos can take back. */
  readonly standing: number;
}

/** A task with its processes. */
export interface HostedTask {
  /** Runs a turn; without a message, continues the interrupted turn. */
  turn(message: ChatMessage | undefined): Promise<TurnOutcome & UsedUp>;
  /** Proposes all staged changes as `patch_apply` through the gate; if there are any, awaits `begins` first. */
  review(begins: () => Promise<unknown>): Promise<ReviewOutcome>;
  /** Cancels the running inference or call; its outcome is reported to the model. */
  interrupt(): void;
  /** Queues the waiting question and all later ones: nobody is watching. */
  unattended(): void;
  /** Somebody is watching again: asks later questions as the request says. */
  attended(): void;
  staged(): Staged;
  undo(files?: readonly string[]): Promise<UndoOutcome>;
  /** Ends every process of the task. Idempotent. */
  end(exit: number): Promise<void>;
}

/** Starts processes for tasks. */
export interface TaskHost {
  /** `resume`: rebuild conversation, staging and finished calls from the log. */
  start(
    task: AgentTask,
    request: TaskRequest,
    options: { readonly resume: boolean },
  ): Promise<{ readonly hosted: HostedTask; readonly unfinished: boolean }>;
  /** Staged and applied changes of a task, read from its log without starting a process. */
  staged(task: AgentTask): Promise<Staged>;
  /** Erases a task's content: blobs, staged files, scratch. */
  erase(task: AgentTask): Promise<void>;
}

/** A person's name for a conversation, in a form that no task id has. */
export const ConversationName = z.string().regex(/^(?!t[0-9a-z]{12}$)[a-z0-9][a-z0-9._-]{0,63}$/)
  .brand<"ConversationName">();
export type ConversationName = z.infer<typeof ConversationName>;

/** A named conversation. A conversation is the message list of a task over its turns. */
export const NamedConversation = z.object({
  name: ConversationName,
  task: TaskId,
  createdAt: Millis,
  /** When its task is erased. */
  expiresAt: Millis.optional(),
}).strict();
export type NamedConversation = z.infer<typeof NamedConversation>;

/** Names of conversations, in order of creation. */
export interface ConversationStore {
  list(): readonly NamedConversation[];
  /** The task of a name or task id. Throws `notFound`. */
  find(conversation: string): TaskId;
  /** Adds a name, or moves it to another task. */
  name(name: ConversationName, task: TaskId): Promise<NamedConversation>;
  /** Sets or (undefined) removes the expiry. Rejects `notFound`. */
  expire(name: ConversationName, expiresAt: number | undefined): Promise<NamedConversation>;
  /** Removes the name; the task stays. Rejects `notFound`. */
  remove(name: ConversationName): Promise<void>;
  /** Erases the tasks of expired conversations, except running ones. */
  sweep(): Promise<readonly ConversationName[]>;
}

/** A request to fork a conversation. */
export interface ForkRequest {
  readonly task: TaskId;
  /** The last turn to copy; absent: the newest finished turn. */
  readonly turn?: number;
  /** The fork's first message; absent: the fork waits. */
  readonly message?: string;
  /** Absent: the original's model. */
  readonly model?: TaskRequest["model"];
  readonly session: SessionId;
  readonly ingress: Ingress;
}

/** Access to conversations in the log. */
export interface PastConversations {
  /** Body of the event that reverts a compaction. Rejects `notFound`, `conflict`, `contextOverflow`. */
  restoring(task: TaskId, number: number): Promise<JsonObject>;
  /** Initial data of a fork. `before`: the newest turn is still running and is excluded. */
  forking(fork: ForkRequest, before: boolean): Promise<{
    readonly request: TaskRequest;
    readonly body: JsonObject;
    readonly private: JsonObject;
    readonly answer: string;
  }>;
}

/** Data committed together with a new task. */
export interface NewTask {
  /** Its id, if it had to be known in advance. */
  readonly id?: TaskId;
  /** Events after the one that creates the task. */
  readonly events?: readonly NewEvent[];
  readonly documents?: readonly DocumentWrite[];
}

/** A query for tasks; all given conditions must hold. */
export interface TaskQuery {
  /** Include archived tasks. */
  readonly archived?: boolean | undefined;
  readonly statuses?: readonly TaskStatus[] | undefined;
  /** Prefix of the id. */
  readonly prefix?: string | undefined;
  /** Created after, or before, this task, in the order of the log. */
  readonly after?: TaskId | undefined;
  readonly before?: TaskId | undefined;
  /** The oldest matches first; absent: the newest. */
  readonly oldest?: boolean | undefined;
  /** Default 1,000. */
  readonly limit?: number | undefined;
}

/** Numbers of tasks. */
export interface TaskTally {
  readonly statuses: ReadonlyMap<TaskStatus, number>;
  readonly channels: ReadonlyMap<string, number>;
}

/** One kernel's agent host. */
export interface HostedAgentService {
  /** Durable when it resolves; its first turn runs by itself. */
  create(request: TaskRequest, more?: NewTask): Promise<AgentTask>;
  /** Ends a waiting interactive task as done. Rejects `conflict` during a turn. */
  finish(task: TaskId): Promise<AgentTask>;
  /** One more turn of an interactive task. */
  say(task: TaskId, text: string, attached?: string): Promise<void>;
  /** Cancels the running work. With `ends`, the displayed reason, also ends the task as cancelled. */
  interrupt(task: TaskId, ends?: string): Promise<void>;
  cancel(task: TaskId, why: string): Promise<AgentTask>;
  resume(task: TaskId): Promise<AgentTask>;
  /** Nobody watches any more: queues questions from now on. */
  unattended(task: TaskId): void;
  archive(task: TaskId): Promise<AgentTask>;
  purge(task: TaskId): Promise<AgentTask>;
  /** Undoes the task's newest applied patch, file by file; with `files`, its changes to these. */
  undo(task: TaskId, files?: readonly string[]): Promise<UndoOutcome>;
  /** Reverts a compaction of the conversation, between turns. */
  restore(task: TaskId, number: number): Promise<JsonObject>;
  /** Creates a task whose conversation begins as a copy of another's. Durable when it resolves. */
  fork(fork: ForkRequest): Promise<AgentTask>;
  staged(task: TaskId): Promise<Staged>;
  get(task: TaskId): AgentTask;
  /** Like `get`; undefined for an unknown task. */
  find(task: TaskId): AgentTask | undefined;
  /** A page of all tasks, in the order of the log. */
  list(query?: TaskQuery): Promise<readonly AgentTask[]>;
  hosted(task: TaskId): HostedTask | undefined;
  /** Continues the unfinished tasks of an earlier kernel. */
  recover(): Promise<readonly TaskId[]>;
  /** No task has live processes or work to do. */
  idle(): boolean;
  /** Ends every process; tasks stay as they are. */
  close(): Promise<void>;
}

/** Tasks per page of {@link allTasks}; between pages other requests are served. */
const STEP = 200;

/** All tasks, including archived ones, read page by page: oldest first, or newest first. */
export async function* allTasks(
  list: HostedAgentService["list"],
  { newest = false }: { readonly newest?: boolean } = {},
): AsyncGenerator<AgentTask> {
  const every = { archived: true, oldest: !newest, limit: STEP };
  for (let page = await list(every);;) {
    yield* newest ? page.toReversed() : page;
    const last = (newest ? page[0] : page.at(-1))?.id;
    if (page.length < STEP || last === undefined) return;
    page = await list({ ...every, ...(newest ? { before: last } : { after: last }) });
  }
}
