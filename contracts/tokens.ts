/** Rough token counts: four characters a token, as nobody here has a tokenizer. @module */
import type { ChatMessage } from "./chat.ts";
import type { ToolDescriptor } from "./tool.ts";

/** Characters that are taken for one token. */
export const CHARS_A_TOKEN = 4;
/** Role, separators and ids, in characters. */
const OVERHEAD = 16;

/** Estimates the tokens of messages. */
export function estimateTokens(messages: readonly ChatMessage[]): number {
  let characters = 0;
  for (const message of messages) {
    characters += message.content.length + OVERHEAD;
    for (const call of message.toolCalls ?? []) {
      characters += call.id.length + call.arguments.length + call.name.length;
      characters += call.echo?.length ?? 0;
    }
  }
  return Math.ceil(characters / CHARS_A_TOKEN);
}

/** Estimates the tokens of a table of tools. */
export function estimateToolTokens(tools: readonly ToolDescriptor[]): number {
  let characters = 0;
  for (const { name, description, paramSchema } of tools) {
    characters += name.length + description.length + paramSchema.length + OVERHEAD;
  }
  return Math.ceil(characters / CHARS_A_TOKEN);
}
