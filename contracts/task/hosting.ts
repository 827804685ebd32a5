/**
 * HostedAgentService and what it needs of the kernel.
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

/** How a turn ended: in the worker's words, waiting for a person, or by a signal. */
export type TurnOutcome =
  /** `died`: its process did, and another is started for the next turn. */
  | (TurnEnd & { readonly died?: true })
  | { readonly stop: "killed"; readonly exit: number; readonly text: string }
  | { readonly stop: "waiting"; readonly question: QuestionId; readonly text: string };

/** The name of the limit that a turn used up, when it ended for that. */
export interface UsedUp {
  readonly limit?: string;
}

/** What became of the review at the end of a turn. */
export type ReviewOutcome =
  | { readonly kind: "nothing" }
  | { readonly kind: "applied"; readonly patch: Digest }
  /** `failed`: nobody denied it; the folder could not take it. */
  | { readonly kind: "kept"; readonly why: string; readonly failed?: true }
  | { readonly kind: "waiting"; readonly question: QuestionId };

/** What became of an undo: of the newest patch that stands, or of single files. */
export interface UndoOutcome {
  readonly undone: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** Patches that stand still: each further undo takes the next one back. */
  readonly standing: number;
}

/** A task with its processes. */
export interface HostedTask {
  /** Runs a turn; without a message, the turn that was cut off goes on. */
  turn(message: ChatMessage | undefined): Promise<TurnOutcome & UsedUp>;
  /** Proposes what is staged, whole, as `patch_apply` through the gate; where something is, `begins` is waited for first. */
  review(begins: () => Promise<unknown>): Promise<ReviewOutcome>;
  /** Cancels the inference or call under way; its outcome is fed back. */
  interrupt(): void;
  /** Questions asked from now on are queued, and the one waiting too: nobody is looking. */
  unattended(): void;
  /** Somebody looks again: questions from now on are put as the request says. */
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
  /** What a task staged and applied, read from its log: starts nothing. */
  staged(task: AgentTask): Promise<Staged>;
  /** Erases a task's content: blobs, staged files, scratch. */
  erase(task: AgentTask): Promise<void>;
}

/** A name that a person gave to a conversation: no task's id has this form. */
export const ConversationName = z.string().regex(/^(?!t[0-9a-z]{12}$)[a-z0-9][a-z0-9._-]{0,63}$/)
  .brand<"ConversationName">();
export type ConversationName = z.infer<typeof ConversationName>;

/** A conversation is a task's message list over its turns; this is what a name of one says. */
export const NamedConversation = z.object({
  name: ConversationName,
  task: TaskId,
  createdAt: Millis,
  /** Its task is erased once this time has passed. */
  expiresAt: Millis.optional(),
}).strict();
export type NamedConversation = z.infer<typeof NamedConversation>;

/** Names of conversations, in the order in which they were given. */
export interface ConversationStore {
  list(): readonly NamedConversation[];
  /** The task of a name, or of a task's own id. Throws `notFound`. */
  find(conversation: string): TaskId;
  /** Gives a name, or moves it to another task. */
  name(name: ConversationName, task: TaskId): Promise<NamedConversation>;
  /** Absent: it never expires. Rejects `notFound`. */
  expire(name: ConversationName, expiresAt: number | undefined): Promise<NamedConversation>;
  /** Takes the name away; the task stays. Rejects `notFound`. */
  remove(name: ConversationName): Promise<void>;
  /** Erases the tasks of conversations that expired; those that run wait for the next time. */
  sweep(): Promise<readonly ConversationName[]>;
}

/** What a fork is made of. */
export interface ForkRequest {
  readonly task: TaskId;
  /** The last turn that is copied; absent: the newest that is over. */
  readonly turn?: number;
  /** What is said to the fork; absent: it waits. */
  readonly message?: string;
  /** Absent: the model of the other. */
  readonly model?: TaskRequest["model"];
  readonly session: SessionId;
  readonly ingress: Ingress;
}

/** What the log says of conversations. */
export interface PastConversations {
  /** Body of the event that puts a change back. Rejects `notFound`, `conflict`, `contextOverflow`. */
  restoring(task: TaskId, number: number): Promise<JsonObject>;
  /** What a fork begins with. `before`: only turns before the newest one are over. */
  forking(fork: ForkRequest, before: boolean): Promise<{
    readonly request: TaskRequest;
    readonly body: JsonObject;
    readonly private: JsonObject;
    readonly answer: string;
  }>;
}

/** What is committed together with a new task. */
export interface NewTask {
  /** Its id, where somebody had to know it before. */
  readonly id?: TaskId;
  /** After the event that makes it. */
  readonly events?: readonly NewEvent[];
  readonly documents?: readonly DocumentWrite[];
}

/** Which tasks, and how many; all that is given must hold. */
export interface TaskQuery {
  /** Also archived ones. */
  readonly archived?: boolean | undefined;
  readonly statuses?: readonly TaskStatus[] | undefined;
  /** How the id begins. */
  readonly prefix?: string | undefined;
  /** Created after, or before, this one, as the log has it: no clock is asked. */
  readonly after?: TaskId | undefined;
  readonly before?: TaskId | undefined;
  /** The first of them; absent: the last. */
  readonly oldest?: boolean | undefined;
  /** 1,000 where absent. */
  readonly limit?: number | undefined;
}

/** How many tasks there are. */
export interface TaskTally {
  readonly statuses: ReadonlyMap<TaskStatus, number>;
  readonly channels: ReadonlyMap<string, number>;
}

/** One kernel's agent host. */
export interface HostedAgentService {
  /** Durable when it resolves; its first turn runs by itself. */
  create(request: TaskRequest, more?: NewTask): Promise<AgentTask>;
  /** Ends an interactive task that waits for words, as done. Rejects `conflict` while a turn is under way. */
  finish(task: TaskId): Promise<AgentTask>;
  /** One more turn of an interactive task. */
  say(task: TaskId, text: string, attached?: string): Promise<void>;
  /** Cancels what is under way. With `ends`, the reason that is shown, it ends the task as cancelled. */
  interrupt(task: TaskId, ends?: string): Promise<void>;
  cancel(task: TaskId, why: string): Promise<AgentTask>;
  resume(task: TaskId): Promise<AgentTask>;
  /** Nobody watches any more: questions are queued from now on. */
  unattended(task: TaskId): void;
  archive(task: TaskId): Promise<AgentTask>;
  purge(task: TaskId): Promise<AgentTask>;
  /** Takes back what it applied last, file by file; with `files`, what it did to these. */
  undo(task: TaskId, files?: readonly string[]): Promise<UndoOutcome>;
  /** Puts back what gave way in a conversation, between turns. */
  restore(task: TaskId, number: number): Promise<JsonObject>;
  /** A new task whose conversation begins as another's. Durable when it resolves. */
  fork(fork: ForkRequest): Promise<AgentTask>;
  staged(task: TaskId): Promise<Staged>;
  get(task: TaskId): AgentTask;
  /** Like `get`; undefined for a task that nobody knows. */
  find(task: TaskId): AgentTask | undefined;
  /** A page of all tasks, in the order of the log. */
  list(query?: TaskQuery): Promise<readonly AgentTask[]>;
  hosted(task: TaskId): HostedTask | undefined;
  /** Takes up what an earlier kernel left unfinished. */
  recover(): Promise<readonly TaskId[]>;
  /** No task has live processes or work to do. */
  idle(): boolean;
  /** Ends every process; tasks stay as they are. */
  close(): Promise<void>;
}

/** Tasks of a page of {@link allTasks}: between two pages others are heard. */
const STEP = 200;

/** All tasks, also archived ones, page by page: oldest first, or with `newest` the other way. */
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
