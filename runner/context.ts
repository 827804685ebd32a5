/**
 * How full the context window is, and when the runner makes room. What gives way, the kernel decides
 * and archives. Seed 004 section 36.
 * @module
 */
import type { ChatMessage } from "../contracts/chat.ts";
import type { ToolDescriptor } from "../contracts/tool.ts";

const CHARS_A_TOKEN = 4;
/** Role, separators and ids of a message, in characters. */
const MESSAGE_OVERHEAD = 16;
/** From this share of the window on room is made, whatever anybody chose. */
const FULL = 0.95;
/** An assistant message that begins so is kept: the agent's own mark. */
const MARK = "[IMPORTANT]";

/** Estimates the tokens of messages: 4 characters a token. */
export function estimateTokens(messages: readonly ChatMessage[]): number {
  let chars = 0;
  for (const message of messages) chars += charsOf(message);
  return Math.ceil(chars / CHARS_A_TOKEN);
}

/** Estimates the tokens of a tool table. */
export function estimateToolTokens(tools: readonly ToolDescriptor[]): number {
  let chars = 0;
  for (const tool of tools) {
    chars += tool.name.length + tool.description.length + tool.paramSchema.length +
      MESSAGE_OVERHEAD;
  }
  return Math.ceil(chars / CHARS_A_TOKEN);
}

/** How full the window is. `reserved`: tokens taken by tools and kept for the answer. */
export function fullness(
  messages: readonly ChatMessage[],
  { window, reserved }: { readonly window: number; readonly reserved: number },
): "room" | "full" | "over" {
  const used = estimateTokens(messages) + reserved;
  return used > window ? "over" : used > window * FULL ? "full" : "room";
}

/** Places of the messages that the agent marked as important. */
export function importantIn(messages: readonly ChatMessage[]): readonly number[] {
  return messages.flatMap(({ role, content }, at) =>
    role === "assistant" && content.startsWith(MARK) ? [at] : []
  );
}

function charsOf(message: ChatMessage): number {
  let chars = message.content.length + MESSAGE_OVERHEAD;
  for (const call of message.toolCalls ?? []) {
    chars += call.id.length + call.name.length + call.arguments.length;
  }
  return chars;
}
