/** What runs in a worker: the standard loop, or a program of someone else's. @module */
import type { ChatMessage } from "../contracts/chat.ts";
import type { StreamChunk } from "../contracts/model.ts";
import type { Signal } from "../contracts/signal.ts";
import type { ToolSnapshot } from "../contracts/tool.ts";
import type { ContextPressure, TurnEnd } from "../contracts/wire_worker.ts";

/** An agent program, loaded and ready for turns. */
export interface Program {
  /**
   * Runs one turn; without a message it goes on with one that was cut off. `tools`: the turn's, where
   * the kernel sent them along. Rejects with a fault.
   */
  turn(message: ChatMessage | undefined, tools?: ToolSnapshot): Promise<TurnEnd>;
  /** The kernel sent a signal; SIGCTXPRESSURE with its particulars. */
  told(signal: Signal, pressure?: ContextPressure): void;
  /** A piece of the response that is being decoded. */
  chunk(chunk: StreamChunk): void;
  /** It has another model, for conversations of so many tokens. */
  modelChanged(contextWindow: number): void;
  /** The tools that may be called are others now. */
  capsChanged(): void;
}
