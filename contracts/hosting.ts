/**
 * HostedAgentService and what it needs of the kernel. Seed 001, HostedAgentService.
 * @module
 */
import type { ChatMessage } from "./chat.ts";
import type { Digest, QuestionId, TaskId } from "./ids.ts";
import type { AgentTask, TaskRequest } from "./task.ts";
import type { Conflict } from "./workspace.ts";
import type { Staged } from "./wire_control.ts";
import type { TurnEnd } from "./wire_worker.ts";

/** How a turn ended: in the worker's words, waiting for a person, or by a signal. */
export type TurnOutcome =
  | TurnEnd
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
  | { readonly kind: "kept"; readonly why: string }
  | { readonly kind: "waiting"; readonly question: QuestionId };

/** What became of an undo. */
export interface UndoOutcome {
  readonly undone: readonly string[];
  readonly conflicts: readonly Conflict[];
}

/** A task with its processes. */
export interface HostedTask {
  /** Runs a turn; without a message, the turn that was cut off goes on. */
  turn(message: ChatMessage | undefined): Promise<TurnOutcome & UsedUp>;
  /** Proposes what is staged, whole, as `patch_apply` through the gate. */
  review(): Promise<ReviewOutcome>;
  /** Cancels the inference or call under way; its outcome is fed back. */
  interrupt(): void;
  /** Questions asked from now on are queued, and the one waiting too: nobody is looking. */
  unattended(): void;
  staged(): Staged;
  undo(): Promise<UndoOutcome>;
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

/** One kernel's agent host. */
export interface HostedAgentService {
  /** Durable when it resolves; its first turn runs by itself. */
  create(request: TaskRequest): Promise<AgentTask>;
  /** One more turn of an interactive task. */
  say(task: TaskId, text: string): Promise<void>;
  /** First Ctrl-C: cancels what is under way. Second: ends the task as cancelled. */
  interrupt(task: TaskId, second: boolean): Promise<void>;
  cancel(task: TaskId, why: string): Promise<AgentTask>;
  resume(task: TaskId): Promise<AgentTask>;
  /** Nobody watches any more: questions are queued from now on. */
  unattended(task: TaskId): void;
  archive(task: TaskId): Promise<AgentTask>;
  purge(task: TaskId): Promise<AgentTask>;
  undo(task: TaskId): Promise<UndoOutcome>;
  staged(task: TaskId): Promise<Staged>;
  get(task: TaskId): AgentTask;
  list(): readonly AgentTask[];
  hosted(task: TaskId): HostedTask | undefined;
  /** Takes up what an earlier kernel left unfinished. */
  recover(): Promise<readonly TaskId[]>;
  /** No task has live processes or work to do. */
  idle(): boolean;
  /** Ends every process; tasks stay as they are. */
  close(): Promise<void>;
}
