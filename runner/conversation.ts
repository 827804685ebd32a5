/** The worker's copy of the conversation, and how it differs from the kernel's. @module */
import type { ChatMessage, ToolCall } from "../contracts/model/chat.ts";
import { resultMessage, skippedResult } from "./result_message.ts";

/** A conversation that knows which prefix the kernel has too. */
export interface Conversation {
  /** What was said, oldest first. */
  messages(): readonly ChatMessage[];
  /** Adds messages that the kernel does not have yet. */
  append(...messages: readonly ChatMessage[]): void;
  /** The kernel made room: it has everything, its first `from` messages and then `messages`. */
  changed(from: number, messages: readonly ChatMessage[]): void;
  /** What to send: keep the first `base` of the kernel's copy, append the rest. */
  unsent(): { readonly base: number; readonly append: readonly ChatMessage[] };
  /** The kernel answered: it has everything, and `answer` after it. */
  settle(answer: ChatMessage): void;
  /** Puts another message in place of the last one. */
  amend(message: ChatMessage): void;
}

/** Makes a conversation of messages; the kernel has the first `known` of them, all where it is absent. */
export function makeConversation(
  initial: readonly ChatMessage[],
  known = initial.length,
): Conversation {
  let messages: readonly ChatMessage[] = [...initial];
  let shared = known;
  return Object.freeze<Conversation>({
    messages: () => messages,
    append: (...more) => {
      messages = [...messages, ...more];
    },
    changed: (from, next) => {
      messages = [...messages.slice(0, from), ...next];
      shared = messages.length;
    },
    unsent: () => ({ base: shared, append: messages.slice(shared) }),
    settle: (answer) => {
      messages = [...messages, answer];
      shared = messages.length;
    },
    amend: (message) => {
      messages = [...messages.slice(0, -1), message];
      shared = Math.min(shared, messages.length - 1);
    },
  });
}

/** The calls of the newest assistant message that no later message answers. */
export function unansweredCalls(messages: readonly ChatMessage[]): readonly ToolCall[] {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  const calls = messages[last]?.toolCalls ?? [];
  // A list, not a set of ids: a model may give two calls the same id.
  const answered = messages.slice(last + 1).map((message) => message.toolCallId);
  return calls.filter((call) => {
    const index = answered.indexOf(call.id);
    if (index >= 0) answered.splice(index, 1);
    return index < 0;
  });
}

/** Answers calls that will not be made: providers refuse a call that stands without an answer. */
export function skipCalls(conversation: Conversation, calls: readonly ToolCall[]): void {
  conversation.append(...calls.map((call) => resultMessage(call, skippedResult(call))));
}
