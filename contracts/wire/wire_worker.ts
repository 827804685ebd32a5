/**
 * What the kernel and a worker say to each other. The kernel trusts nothing of it: a worker that
 * lies about capability, snapshot or base gets a fault.
 * @module
 */
import type { ChatMessage, ToolCall } from "../model/chat.ts";
import type { ToolResult, ToolSnapshot } from "../tool/tool.ts";
import type { InferenceResponse, StreamChunk } from "../model/model.ts";
import type { Limits } from "../task/budget.ts";
import type { Signal } from "../task/signal.ts";

/** Small numbers that name capabilities in this process's c-list. Others name nothing. */
export interface CapList {
  readonly model: number;
  readonly tools: number;
  readonly children: number;
}

/**
 * Kernel → worker, `start`: once. Answered `null` when the program is ready for turns; the first one may
 * be on its way before.
 */
export interface StartBody {
  readonly caps: CapList;
  readonly limits: Limits;
  /** The conversation so far (a fresh one holds the system message only). */
  readonly conversation: readonly ChatMessage[];
  /** Instruction files to read before the first inference of a new conversation. */
  readonly instructions?: readonly string[];
  /** JSON Schema, as JSON text, that answers shall fit. */
  readonly answerSchema?: string;
  /** Source of a program that is not the standard runner: an IIFE that evaluates to `{ turn }`. */
  readonly program?: string;
}

/**
 * Kernel → worker, `turn`: runs the loop until the model proposes no more calls. Meanwhile a `ping` (null) is
 * answered `null`: an agent's health check.
 */
export interface TurnBody {
  /** The user's message; absent when a turn that was cut off goes on. */
  readonly message?: ChatMessage;
  /** The tools for this turn, for a program of ours: it need not ask. */
  readonly tools?: ToolSnapshot;
}

/** Answer to `turn`. */
export interface TurnEnd {
  readonly stop:
    | "answered"
    | "iterations"
    | "cancelled"
    | "terminated"
    | "contextOverflow"
    | "length"
    | "budget"
    | "upstream"
    | "brake";
  readonly text: string;
}

/** Kernel → worker, `signal`. Where it is asked, the worker tells `heard` (null) before it answers: a press of Ctrl-C. */
export interface SignalBody {
  readonly signal: Signal;
  /** With a SIGCTXPRESSURE of the kernel's own. */
  readonly pressure?: ContextPressure;
}

/** How full the context window is: particulars of SIGCTXPRESSURE. */
export interface ContextPressure {
  /** Tokens that the next inference takes: messages, tools and the answer's share. */
  readonly used: number;
  /** Tokens that the window has. */
  readonly limit: number;
  readonly recommended: ContextMethod;
}

/** Kernel → worker, `modelChanged`: the old handle of the model names nothing any more. */
export interface ModelChangedBody {
  readonly model: number;
  /** Tokens that a conversation may take with it. */
  readonly contextWindow: number;
}

/**
 * Kernel → worker events. `chunk` comes while the model speaks to a program that is not one of ours; to
 * one of ours, all of it before the failure, where an inference failed. SIGINT comes as a question of the
 * same shape: what the worker sent before it answered, it sent without knowing, and the kernel cancels
 * that too.
 */
export type WorkerEvents =
  | { readonly op: "signal"; readonly body: SignalBody }
  | { readonly op: "chunk"; readonly body: StreamChunk }
  | { readonly op: "capsChanged"; readonly body: null }
  | { readonly op: "modelChanged"; readonly body: ModelChangedBody };

/** Worker → kernel, `advertise`: the tools for this turn. */
export interface AdvertiseBody {
  readonly cap: number;
}
/** Answer to `advertise`. */
export type AdvertiseAnswer = ToolSnapshot;

/** Worker → kernel, `infer`: keeps the first `base` messages of the kernel's copy, appends the rest. */
export interface InferBody {
  readonly cap: number;
  readonly base: number;
  readonly append: readonly ChatMessage[];
  readonly maxTokens: number;
  readonly responseSchema?: string;
}
/** Answer to `infer`; its message is appended to the kernel's copy. */
export type InferAnswer = InferenceResponse;

/**
 * How room is made: a summary in place of the oldest exchanges, a note in their place, or a note in
 * place of all that is not kept. Whatever gives way is archived in the log.
 */
export type ContextMethod = "compact" | "evict" | "checkpoint";

/** What may be kept: system messages, a person's own words, what the agent program marked. */
export type ContextTag = "SYSTEM" | "USER_INSTRUCTION" | "IMPORTANT";

/** Worker → kernel, `context`: makes room in the conversation. */
export interface ContextBody {
  readonly cap: number;
  /** As in `infer`; absent: the kernel's whole copy. */
  readonly base?: number;
  readonly append?: readonly ChatMessage[];
  readonly method: ContextMethod;
  /** Absent: all of them. */
  readonly preserve?: readonly ContextTag[];
  /** Places of messages that are IMPORTANT, from 0; the exchange around each is kept. */
  readonly important?: readonly number[];
  /** Share of the window to come down to, 0.1 to 0.8; absent: 0.6. */
  readonly share?: number;
  /** Tokens kept for the answer. */
  readonly reserve: number;
}
/** Answer to `context`: the conversation keeps its first `from` messages, `messages` follow. */
export interface ContextAnswer {
  /** The change's number for `remit ctx`; absent when nothing gave way. */
  readonly number?: number;
  readonly method?: ContextMethod | "shorten";
  /** Tokens before and after, as in {@link ContextPressure}. */
  readonly before: number;
  readonly after: number;
  readonly from: number;
  readonly messages: readonly ChatMessage[];
}

/** Worker → kernel, `call`: one at a time. */
export interface CallBody {
  readonly cap: number;
  readonly snapshot: string;
  readonly call: ToolCall;
}
/** Answer to `call`. */
export type CallAnswer = ToolResult;

/** Worker → kernel, `spawn`: a child with a subset of what the parent holds. */
export interface SpawnBody {
  readonly cap: number;
  readonly persona: string;
  readonly request: string;
  /** Tool names; each must be among the parent's. */
  readonly tools: readonly string[];
  readonly limits: Partial<Limits>;
}
/** Answer to `spawn`. */
export interface SpawnAnswer {
  readonly pid: number;
}

/** Worker → kernel, `wait`: until the child ends. */
export interface WaitBody {
  readonly cap: number;
  readonly pid: number;
}
/** Answer to `wait`. The text keeps the child's colour, which falls on the parent. */
export interface WaitAnswer {
  readonly exit: number;
  readonly text: string;
}

/** Worker → kernel, `kill`: own children only. */
export interface KillBody {
  readonly cap: number;
  readonly pid: number;
  readonly signal: Signal;
}
