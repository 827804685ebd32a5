/** What HostedAgentService needs of the kernel to run a task. Wired in kernel/main.ts. @module */
import type {
  AgentTask,
  ChatMessage,
  Conflict,
  Digest,
  QuestionId,
  Staged,
  TaskRequest,
  TurnEnd,
} from "../contracts/mod.ts";

/** How a turn ended: in the worker's words, or waiting for a person. */
export type TurnOutcome =
  | TurnEnd
  | { readonly stop: "waiting"; readonly question: QuestionId; readonly text: string };

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
  turn(message: ChatMessage | undefined): Promise<TurnOutcome>;
  /** Proposes what is staged, whole, as `patch_apply` through the gate. */
  review(): Promise<ReviewOutcome>;
  /** Cancels the inference or call under way; its outcome is fed back. */
  interrupt(): void;
  /** Questions asked from now on are queued, and the one waiting too: nobody is looking. */
  unattended(): void;
  staged(): Staged;
  undo(): Promise<UndoOutcome>;
  /** Any call refused for its colour under `strict` since the start. */
  contaminated(): boolean;
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
  /** Erases a task's content: blobs, staged files, scratch. */
  erase(task: AgentTask): Promise<void>;
}
