/** The interface of an inference engine: one request at a time, without conversations or tools. @module */

import type { Reading } from "../../contracts/model/model.ts";
import type { Tokenizer } from "../../contracts/model/model_aux.ts";

/** A message for a chat template. */
export interface EngineMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** A completion to compute. */
export interface EngineRequest {
  readonly messages: readonly EngineMessage[];
  readonly maxTokens: number;
  /** 0: greedy. */
  readonly temperature: number;
  readonly seed: number;
  readonly stop: readonly string[];
  /** GBNF; absent: any text. */
  readonly grammar?: string | undefined;
  /** Whether the cache of the previous request may be used. True. */
  readonly reuse?: boolean;
}

/** Result of a completion. */
export interface EngineEnd {
  /** `length`: at `maxTokens`, or at the end of the context. */
  readonly why: "stop" | "length";
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input tokens found in the cache. */
  readonly reusedTokens: number;
}

/** A loaded model. Calls of one engine must not overlap: see `makeInTurn`. */
export interface Engine extends Tokenizer {
  /**
   * Writes whole characters to `onText`. An abort takes effect between two tokens or two batches of the
   * input. Rejects with `contextOverflow` (before anything is decoded), `cancelled`, `invalidInput` (for a
   * template or grammar that the engine refuses), `upstream` when the engine ended.
   */
  complete(
    request: EngineRequest,
    options: {
      readonly onText: (text: string) => void;
      /** Reports progress in the input after each batch. */
      readonly onRead?: ((reading: Reading) => void) | undefined;
      readonly signal: AbortSignal;
    },
  ): Promise<EngineEnd>;
  /** A unit vector for a text. Throws `tooLarge` with `detail.tokens` for a text that is too long. */
  embed(text: string): Promise<{ readonly vector: Float32Array; readonly inputTokens: number }>;
  /** The exact number of tokens of a text, without the token that begins every input. */
  count(text: string): Promise<number>;
  /** Resolves with the reason when the engine is unusable; every later call rejects with `upstream`. */
  readonly ended: Promise<string>;
}

/** Options of an engine, fixed when it starts. */
export interface EngineOptions {
  readonly contextTokens: number;
  /** Whether the engine computes vectors instead of answers. */
  readonly embedding: boolean;
  /** Whether the chat template may ask for thoughts before an answer. */
  readonly thoughts: boolean;
  /** A Jinja chat template that replaces the one in the weights. */
  readonly template?: string | undefined;
  /** Text of a control token, used for counting. */
  readonly end: string | undefined;
}

/** Random access to a file of weights. */
export interface EngineFile {
  readonly length: number;
  read(at: number, length: number): Uint8Array<ArrayBuffer>;
}

/** Starts an engine on a checked file. Rejects with `invalidInput` when it cannot. */
export type StartEngine = (file: EngineFile, options: EngineOptions) => Promise<Engine>;
