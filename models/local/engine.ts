/** What runs a model's arithmetic: one thing at a time, and nothing of conversations or tools. @module */

import type { Reading } from "../../contracts/model/model.ts";
import type { Tokenizer } from "../../contracts/model/model_aux.ts";

/** A message as a chat template takes it. */
export interface EngineMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** One completion. */
export interface EngineRequest {
  readonly messages: readonly EngineMessage[];
  readonly maxTokens: number;
  /** 0 takes the likeliest token each time. */
  readonly temperature: number;
  readonly seed: number;
  readonly stop: readonly string[];
  /** GBNF; absent: any text. */
  readonly grammar?: string | undefined;
  /** Whether what the last request left behind may be used. True. */
  readonly reuse?: boolean;
}

/** How a completion ended. */
export interface EngineEnd {
  /** `length`: at `maxTokens`, or at the end of the context. */
  readonly why: "stop" | "length";
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Tokens of the input that did not have to be read again. */
  readonly reusedTokens: number;
}

/** A loaded model. Calls of one engine must not overlap: see in_turn.ts. */
export interface Engine extends Tokenizer {
  /**
   * Writes to `onText`, whole characters only. An abort bites between two tokens and between two
   * batches of the input. Rejects with `contextOverflow` (before anything is decoded), `cancelled`,
   * `invalidInput` (the template or the grammar is not taken), `upstream` when the engine ended.
   */
  complete(
    request: EngineRequest,
    options: {
      readonly onText: (text: string) => void;
      /** Hears how far the input was read, after each batch. */
      readonly onRead?: ((reading: Reading) => void) | undefined;
      readonly signal: AbortSignal;
    },
  ): Promise<EngineEnd>;
  /** A vector of length 1 for a text. `tooLarge` with `detail.tokens` for a text that is too long. */
  embed(text: string): Promise<{ readonly vector: Float32Array; readonly inputTokens: number }>;
  /** Tokens of a text, exact, without the one that begins every input. */
  count(text: string): Promise<number>;
  /** Resolves, with why, when the engine is beyond use: every later call fails with `upstream`. */
  readonly ended: Promise<string>;
}

/** How an engine is started. */
export interface EngineOptions {
  readonly contextTokens: number;
  /** For vectors: no answers are made. */
  readonly embedding: boolean;
  /** Lets the template ask for thoughts before an answer. */
  readonly thoughts: boolean;
  /** Jinja, in place of what the weights bring. */
  readonly template?: string | undefined;
  /** Text of a control token, for counting. */
  readonly end: string | undefined;
}

/** A file as an engine reads it. */
export interface EngineFile {
  readonly length: number;
  read(at: number, length: number): Uint8Array<ArrayBuffer>;
}

/** Starts an engine on a file that was looked at. Rejects with `invalidInput` when it cannot. */
export type StartEngine = (file: EngineFile, options: EngineOptions) => Promise<Engine>;
