/** The kernel's answers to the command line; wire_control.ts lists the operations. @module */
import type { ChatMessage } from "../model/chat.ts";
import type { Label } from "../authority/colour.ts";
import type { FinishReason } from "../model/model.ts";
import type { StagedChange } from "../tool/workspace.ts";

/** One line of a watched task; the live view and the execution trace consist of these. */
export type WatchEvent =
  | {
    readonly kind: "event";
    readonly n: number;
    readonly at: number;
    readonly event: string;
    readonly body: unknown;
    readonly private?: unknown;
  }
  | { readonly kind: "chunk"; readonly text: string }
  | {
    readonly kind: "progress";
    readonly call: string;
    readonly text: string;
    readonly label: Label;
  }
  /** The model thinks: characters since the last such event. The thoughts themselves are not sent. */
  | { readonly kind: "thinking"; readonly characters: number }
  /** A local model reads its request before its first token: progress in tokens. */
  | { readonly kind: "reading"; readonly done: number; readonly total: number }
  /** An exchange with a model provider, if the task is recorded. */
  | { readonly kind: "wire"; readonly exchange: string };

/** Answer to `embed`: a vector for each text, in the order of the texts. */
export interface Vectors {
  readonly model: string;
  readonly vectors: readonly (readonly number[])[];
  readonly inputTokens: number;
  /** US dollars. */
  readonly money: number;
}

/** Answer to `ask`: a model's answer to the operator's own question, without tools. */
export interface ModelAnswer {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars. */
  readonly money: number;
}

/** A row of `remit ctx list`: one compaction of the context. Token counts include tools and answer. */
export interface ContextRow {
  readonly number: number;
  readonly at: number;
  readonly method: string;
  readonly turn: number;
  readonly before: number;
  readonly after: number;
  readonly preserved: readonly string[];
  readonly messages: number;
  readonly restored: boolean;
}

/** A row of `remit conversation list`. */
export interface ConversationRow {
  readonly name: string;
  readonly task: string;
  readonly status: string;
  readonly turns: number;
  readonly updatedAt: number;
  readonly expiresAt: number | null;
  readonly from: { readonly task: string; readonly turn: number } | null;
}

/** Messages from index `from` on; `next` is the next index, null at the end. */
export interface MessagePage {
  readonly task: string;
  readonly turn: number;
  readonly messages: readonly ChatMessage[];
  readonly next: number | null;
}

/** Answer to `counts`: numbers of tasks, messages and exchanges by state. */
export interface StateCounts {
  readonly tasks: Readonly<Record<string, number>>;
  /** Tasks by ingress channel. */
  readonly channels: Readonly<Record<string, number>>;
  /** Waiting messages and the newest settled ones. */
  readonly inbox: Readonly<Record<string, number>>;
  readonly exchanges: Readonly<Record<string, number>>;
  /** Open questions. */
  readonly questions: number;
  readonly processes: number;
}

/** Answer to `ended`: `next` is the position to continue from. */
export interface EndedTasks {
  readonly tasks: readonly string[];
  readonly next: number;
}

/** A span of a task's time: the task itself, an inference, a call or a question. Times are milliseconds since 1970. */
export interface TaskSpan {
  readonly kind: "task" | "inference" | "call" | "question";
  /** Unique for its kind within the task. */
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly ok: boolean;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

/** Answer to `retain`: numbers of erased things, or of those that would be erased. */
export interface RetainReport {
  readonly tasks: number;
  readonly exchanges: number;
  /** Messages without a task; not counted in a dry run. */
  readonly messages?: number;
}

/** A row of `ps`. */
export interface ProcessInfo {
  readonly pid: number;
  readonly ppid: number | null;
  readonly task: string;
  readonly spec: string;
  readonly state: string;
  readonly colour: string;
  readonly label: string;
  readonly caps: readonly string[];
  readonly limits: unknown;
  readonly usage: unknown;
  readonly exit: number | null;
  readonly os: readonly number[];
  /** The model that answered last; empty before the first answer. */
  readonly model: string;
}

/** Answer to `staged`: changes that wait for review, and the folder with their contents. */
export interface Staged {
  readonly patch: string | null;
  readonly changes: readonly StagedChange[];
  readonly applied: readonly {
    readonly patch: string;
    readonly changes: readonly StagedChange[];
    readonly undone: boolean;
  }[];
  /** Folder of content-addressed files; the reader verifies the digest of what it shows. */
  readonly content: string;
}
