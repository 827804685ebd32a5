/**
 * Rough token counts: four characters a token, and what a model's own counts say of that. The thing
 * that counts exactly is the model's, behind its port.
 * @module
 */
import type { ChatMessage } from "./chat.ts";
import type { ToolDescriptor } from "../tool/tool.ts";

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

/** How many tokens one model counts for what is estimated here as one. */
export interface TokenRatio {
  /** From 1 to 16, 1 until something is known. Never less: too little room taken ends a task. */
  now(): number;
  /** An estimate, in the model's own tokens. */
  of(estimate: number): number;
  /** The model counted `counted` tokens for an input that was estimated as `estimate`. */
  learn(estimate: number, counted: number): void;
  /** The model would not take it: it is more than `least` tokens. */
  refused(estimate: number, least: number): void;
}

/** Estimates below this many tokens say nothing: a template around them weighs as much. */
const TELLING = 256;
/** A character of a rare script is up to four tokens. TRUST: counts are the model's own word. */
const MAX_RATIO = 16;

/** Makes the ratio of one model, of which nothing is known. Code has about 1, Chinese 3 to 4. */
export function makeTokenRatio(): TokenRatio {
  let ratio = 1;
  const set = (estimate: number, counted: number): void => {
    if (estimate > 0) ratio = Math.min(MAX_RATIO, Math.max(1, counted / estimate));
  };
  return Object.freeze<TokenRatio>({
    now: () => ratio,
    of: (estimate) => Math.ceil(estimate * ratio),
    learn(estimate, counted): void {
      if (estimate >= TELLING) set(estimate, counted);
    },
    refused(estimate, least): void {
      if (estimate * ratio <= least) set(estimate, least + 1);
    },
  });
}
