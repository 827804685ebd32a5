/**
 * Messages between the kernel and a worker. The kernel trusts none of them: a worker with a wrong
 * capability, snapshot or base gets a fault.
 * @module
 */
import type { ChatMessage, ToolCall } from "../model/chat.ts";
import type { ToolResult, ToolSnapshot } from "../tool/tool.ts";
import type { InferenceResponse, StreamChunk } from "../model/model.ts";
import type { Limits } from "../task/budget.ts";
import type { Signal } from "../task/signal.ts";

/** Handles of capabilities in this process's list. Other numbers name nothing. */
export interface CapList {
  readonly model: number;
  readonly tools: number;
  readonly children: number;
}

/**
 * Kernel → worker, `start`: once. Answered `null` when the program is ready for turns; the first
 * turn may already be on its way.
 */
export interface StartBody {
  readonly caps: CapList;
  readonly limits: Limits;
  /** The conversation so far (a fresh one holds the system message only). */
  readonly conversation: readonly ChatMessage[];
  /** Instruction files to read before the first inference of a new conversation. */
  readonly instructions?: readonly string[];
  /** JSON Schema, as JSON text, for answers. */
  readonly answerSchema?: string;
  /** Source of a program in place of the standard runner: an IIFE that evaluates to `{ turn }`. */
  readonly program?: string;
}

/**
 * Kernel → worker, `turn`: runs the loop until the model proposes no more calls. Meanwhile the
 * worker answers a `ping` (null) with `null`: an agent's health check.
 */
export interface TurnBody {
  /** The user's message; absent if an interrupted turn continues. */
  readonly message?: ChatMessage;
  /** The tools for this turn; Remit's own programs need not ask for them. */
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

/** Kernel → worker, `signal`. If sent as a request (Ctrl-C), the worker tells `heard` (null) before it answers. */
export interface SignalBody {
  readonly signal: Signal;
  /** Set with a SIGCTXPRESSURE from the kernel itself. */
  readonly pressure?: ContextPressure;
}

/** How full the context window is: detail of SIGCTXPRESSURE. */
export interface ContextPressure {
  /** Tokens of the next inference: messages, tools and the answer's share. */
  readonly used: number;
  /** Size of the window, tokens. */
  readonly limit: number;
  readonly recommended: ContextMethod;
}

/** Kernel → worker, `modelChanged`: the old handle of the model becomes invalid. */
export interface ModelChangedBody {
  readonly model: number;
  /** Maximum tokens of a conversation with it. */
  readonly contextWindow: number;
}

/**
 * Kernel → worker events. `chunk` is sent live to programs that are not Remit's own; Remit's
 * programs receive all chunks before the failure of a failed inference. SIGINT is sent as a request
 * of the same shape: calls that the worker sent before its answer were sent without knowledge of
 * the signal, so the kernel cancels them, too.
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
 * How the context is reduced: a summary in place of the oldest exchanges, a note in their place, or
 * a note in place of everything that is not preserved. Removed messages are archived in the log.
 */
export type ContextMethod = "compact" | "evict" | "checkpoint";

/** Messages to preserve: system messages, a person's own words, messages that the agent program marked. */
export type ContextTag = "SYSTEM" | "USER_INSTRUCTION" | "IMPORTANT";

/** Worker → kernel, `context`: reduces the conversation. */
export interface ContextBody {
  readonly cap: number;
  /** As in `infer`; absent: the kernel's whole copy. */
  readonly base?: number;
  readonly append?: readonly ChatMessage[];
  readonly method: ContextMethod;
  /** Absent: all of them. */
  readonly preserve?: readonly ContextTag[];
  /** Indexes of IMPORTANT messages, from 0; the exchange around each is kept. */
  readonly important?: readonly number[];
  /** Target share of the window, 0.1 to 0.8; absent: 0.6. */
  readonly share?: number;
  /** Tokens reserved for the answer. */
  readonly reserve: number;
}
/** Answer to `context`: the conversation keeps its first `from` messages, `messages` follow. */
export interface ContextAnswer {
  /** Number of the compaction for `remit ctx`; absent if nothing was removed. */
  readonly number?: number;
  readonly method?: ContextMethod | "shorten";
  /** Tokens before and after, as in {@link ContextPressure}. */
  readonly before: number;
  readonly after: number;
  readonly from: number;
  readonly messages: readonly ChatMessage[];
}

/** Worker → kernel, `call`: one call at a time. */
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
/** Answer to `wait`. The text has the child's colour, which is added to the parent's. */
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
