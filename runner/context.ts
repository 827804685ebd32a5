/**
 * How full the context window is, and when the runner makes room. What gives way, the kernel decides
 * and archives.
 * @module
 */
import type { ChatMessage } from "../contracts/chat.ts";
import { estimateTokens, type TokenRatio } from "../contracts/tokens.ts";

/** From this share of the window on room is made, whatever anybody chose. */
const FULL = 0.95;
/** An assistant message that begins so is kept: the agent's own mark. */
const MARK = "[IMPORTANT]";

/**
 * How full the window is. `tools`: an estimate of the table; `answer`: tokens kept for the answer. What
 * a model counted is reason enough to make room; over is only what no model would take.
 */
export function fullness(
  messages: readonly ChatMessage[],
  { window, tools, answer, ratio }: {
    readonly window: number;
    readonly tools: number;
    readonly answer: number;
    readonly ratio: Pick<TokenRatio, "of">;
  },
): "room" | "full" | "over" {
  const estimate = estimateTokens(messages) + tools;
  if (estimate + answer > window) return "over";
  return ratio.of(estimate) + answer > window * FULL ? "full" : "room";
}

/** Places of the messages that the agent marked as important. */
export function importantIn(messages: readonly ChatMessage[]): readonly number[] {
  return messages.flatMap(({ role, content }, at) =>
    role === "assistant" && content.startsWith(MARK) ? [at] : []
  );
}
