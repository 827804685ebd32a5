/** What was said and done in a turn that came to no answer, for whoever goes on from the log. @module */
import { type ChatMessage, resultMessage, type ToolResult } from "../../contracts/mod.ts";

/**
 * Adds to `conversation` what no inference has seen when something else is said: results of the last answer's calls,
 * and then the words before. A worker that lives has the same, and tells the kernel with its next inference.
 */
export function addUnheard(
  conversation: ChatMessage[],
  { results, said }: {
    /** Since the last inference. */
    readonly results: readonly ToolResult[];
    readonly said: ChatMessage | undefined;
  },
): void {
  const left = [...results];
  const last = conversation.at(-1);
  for (const call of last?.role === "assistant" ? last.toolCalls ?? [] : []) {
    const at = left.findIndex(({ callId }) => callId === call.id);
    const [result] = at < 0 ? [] : left.splice(at, 1);
    if (result !== undefined) conversation.push(resultMessage(call, result));
  }
  if (said !== undefined) conversation.push(said);
}
