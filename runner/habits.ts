/** What another program does differently from the standard one, over the same loop. @module */
import type { ChatMessage, ToolCall } from "../contracts/model/chat.ts";
import type { ToolResult } from "../contracts/tool/tool.ts";

/** A call that a program makes by itself: nobody proposed it, and the gate decides it as any. */
export type CallBy = (id: string, name: string, args: object) => Promise<ToolResult>;

/** A program's habits. */
export interface Habits {
  /** The conversation that it begins with, and how many messages of it the kernel has. */
  begin(initial: readonly ChatMessage[]): readonly [readonly ChatMessage[], number];
  /** Messages that are said before the next inference. */
  before(said: readonly ChatMessage[], call: CallBy): Promise<readonly ChatMessage[]>;
  /** What the model said, as the loop takes it: `place` is the message's, from 1. */
  heard(message: ChatMessage, place: number): ChatMessage;
  /** A call of the model's was answered. */
  called(call: ToolCall, result: ToolResult): void;
  /** The model proposes nothing more: messages for which it goes on. Without any the turn ends. */
  rests(said: readonly ChatMessage[], call: CallBy): Promise<readonly ChatMessage[]>;
  /** The turn ends because the model failed. */
  broke(why: string, call: CallBy): Promise<void>;
}

/** The standard program's: none. */
export const STANDARD_HABITS: Habits = Object.freeze<Habits>({
  begin: (initial) => [initial, initial.length],
  before: () => Promise.resolve([]),
  heard: (message) => message,
  called: () => undefined,
  rests: () => Promise.resolve([]),
  broke: () => Promise.resolve(),
});
