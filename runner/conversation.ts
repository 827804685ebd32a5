/** The worker's copy of the conversation, with the prefix that the kernel already has. Used by standard.ts. @module */
import type { ChatMessage, ToolCall } from "../contracts/model/chat.ts";
import { resultMessage, skippedResult } from "./result_message.ts";

/** A conversation that tracks which prefix the kernel has as well. */
export interface Conversation {
  /** All messages, oldest first. */
  messages(): readonly ChatMessage[];
  /** Adds messages that the kernel does not have yet. */
  append(...messages: readonly ChatMessage[]): void;
  /** Takes over a compaction: the first `from` messages stay, `messages` follow. */
  changed(from: number, messages: readonly ChatMessage[]): void;
  /**
   * The delta to send: the kernel keeps the first `base` messages of its copy and appends `append`.
   */
  unsent(): { readonly base: number; readonly append: readonly ChatMessage[] };
  /** Takes over the kernel's answer; afterwards the kernel has the whole conversation. */
  settle(answer: ChatMessage): void;
  /** Replaces the last message. */
  amend(message: ChatMessage): void;
}

/** Makes a conversation of `initial`. The kernel has its first `known` messages; by default all. */
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

/** Returns the calls of the newest assistant message that no later message answers. */
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

/** Answers unmade calls as cancelled: providers refuse a call without an answer. */
export function skipCalls(conversation: Conversation, calls: readonly ToolCall[]): void {
  conversation.append(...calls.map((call) => resultMessage(call, skippedResult(call))));
}
