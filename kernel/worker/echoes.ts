/**
 * What a provider wants said back with a call is between it and the kernel: a worker is not told of
 * it, and what one claims of it is left out, because it goes back as it came, past redaction.
 * @module
 */
import type { ChatMessage } from "../../contracts/mod.ts";

/** The message as a worker sees and says it. */
export function withoutEchoes(message: ChatMessage): ChatMessage {
  if (message.toolCalls?.some(({ echo }) => echo !== undefined) !== true) return message;
  return {
    ...message,
    toolCalls: message.toolCalls.map(({ echo: _echo, ...call }) => call),
  };
}
