/**
 * Estimated token counts: four characters a token, corrected by a model's own counts. Exact counts
 * come from the model's tokenizer, behind its port.
 * @module
 */
import type { ChatMessage } from "./chat.ts";
import type { ToolDescriptor } from "../tool/tool.ts";

/** Characters counted as one token. */
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

/** Ratio of one model's token counts to the estimates. */
export interface TokenRatio {
  /** From 1 to 16, initially 1. Never below 1: an estimate that is too low can end a task. */
  now(): number;
  /** Converts an estimate to the model's tokens. */
  of(estimate: number): number;
  /** The model counted `counted` tokens for an input that was estimated as `estimate`. */
  learn(estimate: number, counted: number): void;
  /** The model refused an input: it has more than `least` tokens. */
  refused(estimate: number, least: number): void;
}

/** Smaller estimates teach nothing: the chat template around them weighs as much. Tokens. */
const TELLING = 256;
/** A character of a rare script can take four tokens. TRUST: counts come from the model's service. */
const MAX_RATIO = 16;

/** The ratio of a model without known counts. Typical values: code about 1, Chinese 3 to 4. */
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
