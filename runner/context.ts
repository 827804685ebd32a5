/**
 * How full the context window is, and when the runner makes room. What gives way, the kernel decides
 * and archives. Seed 004 section 36.
 * @module
 */
import type { ChatMessage } from "../contracts/chat.ts";
import { estimateTokens } from "../contracts/tokens.ts";

/** From this share of the window on room is made, whatever anybody chose. */
const FULL = 0.95;
/** An assistant message that begins so is kept: the agent's own mark. */
const MARK = "[IMPORTANT]";

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
