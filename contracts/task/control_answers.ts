/** What the kernel answers to a command line: wire_control.ts says which operation answers what. @module */
import type { ChatMessage } from "../model/chat.ts";
import type { Label } from "../authority/colour.ts";
import type { FinishReason } from "../model/model.ts";
import type { StagedChange } from "../tool/workspace.ts";

/** One line of a watched task: the live view and the execution trace are made of these. */
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
  /** A model of this machine reads its request: tokens, before its first. */
  /** The model thinks: characters since the last word of it. What it thinks is not told. */
  | { readonly kind: "thinking"; readonly characters: number }
  | { readonly kind: "reading"; readonly done: number; readonly total: number }
  /** An exchange with a model provider, where the task is recorded. */
  | { readonly kind: "wire"; readonly exchange: string };

/** Answer to `embed`: a vector for each text, in their order. */
export interface Vectors {
  readonly model: string;
  readonly vectors: readonly (readonly number[])[];
  readonly inputTokens: number;
  /** US dollars. */
  readonly money: number;
}

/** Answer to `ask`: what a model said to the operator's own question, without tools. */
export interface ModelAnswer {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars. */
  readonly money: number;
}

/** A row of `remit ctx list`: one time that room was made. Tokens with tools and answer. */
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

/** Messages from place `from` on; `next` is where to go on, null at the end. */
export interface MessagePage {
  readonly task: string;
  readonly turn: number;
  readonly messages: readonly ChatMessage[];
  readonly next: number | null;
}

/** Answer to `counts`: how much there is, by how it stands. */
export interface StateCounts {
  readonly tasks: Readonly<Record<string, number>>;
  /** Tasks by where they came in. */
  readonly channels: Readonly<Record<string, number>>;
  /** Messages that wait, and the newest settled ones. */
  readonly inbox: Readonly<Record<string, number>>;
  readonly exchanges: Readonly<Record<string, number>>;
  /** Open ones. */
  readonly questions: number;
  readonly processes: number;
}

/** Answer to `ended`: `next` is the place to ask from next time. */
export interface EndedTasks {
  readonly tasks: readonly string[];
  readonly next: number;
}

/** A piece of a task's time: the task itself, an inference, a call, a question. Times are milliseconds since 1970. */
export interface TaskSpan {
  readonly kind: "task" | "inference" | "call" | "question";
  /** One of its kind in its task. */
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly ok: boolean;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

/** Answer to `retain`: what was erased, or would be. */
export interface RetainReport {
  readonly tasks: number;
  readonly exchanges: number;
  /** Messages that were no task's; not counted beforehand. */
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
  /** The one that answered last; empty before the first answer. */
  readonly model: string;
}

/** Answer to `staged`: what waits for review, and where its contents lie for the person's eyes. */
export interface Staged {
  readonly patch: string | null;
  readonly changes: readonly StagedChange[];
  readonly applied: readonly {
    readonly patch: string;
    readonly changes: readonly StagedChange[];
    readonly undone: boolean;
  }[];
  /** Folder of content-addressed files: the reader hashes what it shows. */
  readonly content: string;
}
