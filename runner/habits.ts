/** Hooks by which an agent program differs from the standard one over the same loop. @module */
import type { ChatMessage, ToolCall } from "../contracts/model/chat.ts";
import type { ToolResult } from "../contracts/tool/tool.ts";

/** A call by the program itself, not the model; the gate decides it like any other. */
export type CallBy = (id: string, name: string, args: object) => Promise<ToolResult>;

/** The hooks of an agent program. */
export interface Habits {
  /** Returns the initial conversation, and how many of its messages the kernel has. */
  begin(initial: readonly ChatMessage[]): readonly [readonly ChatMessage[], number];
  /** Returns messages to add before the next inference. */
  before(said: readonly ChatMessage[], call: CallBy): Promise<readonly ChatMessage[]>;
  /** Transforms the model's message for the loop. `place`: the message's position, from 1. */
  heard(message: ChatMessage, place: number): ChatMessage;
  /** Called after a call of the model was answered. */
  called(call: ToolCall, result: ToolResult): void;
  /** The model has no more calls: the returned messages continue the turn; none end it. */
  rests(said: readonly ChatMessage[], call: CallBy): Promise<readonly ChatMessage[]>;
  /** Called when the turn ends because the model failed. */
  broke(why: string, call: CallBy): Promise<void>;
}

/** The standard program: no hook changes anything. */
export const STANDARD_HABITS: Habits = Object.freeze<Habits>({
  begin: (initial) => [initial, initial.length],
  before: () => Promise.resolve([]),
  heard: (message) => message,
  called: () => undefined,
  rests: () => Promise.resolve([]),
  broke: () => Promise.resolve(),
});
