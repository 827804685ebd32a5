/** Where Anthropic is asked to keep what it has read, for the next request of the same loop. @module */
import type { SdkOptions } from "../sdk_request.ts";

type Message = SdkOptions["prompt"][number];

/** Kept for five minutes, and anew with each use. */
const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;
/**
 * Marks in the conversation, beside the one on instructions and tools: its end, and the end that it
 * had one request ago, which the provider looks for among the twenty blocks before a mark alone.
 */
const ENDS = 2;

/**
 * The request with marks on its stable prefix, for a provider that keeps nothing unasked. One without
 * tools is asked once: keeping costs a quarter more than reading, and nobody would read it again.
 */
export function markingPrefix(options: SdkOptions): SdkOptions {
  if (options.tools === undefined) return options;
  const { prompt } = options;
  const ends = [...prompt.keys()].filter((at) => endsRequest(prompt, at)).slice(-ENDS);
  return {
    ...options,
    prompt: prompt.map((message, at) =>
      message.role === "system" || ends.includes(at)
        ? { ...message, providerOptions: MARK }
        : message
    ),
  };
}

/** The last of what stands between two answers of the model. */
function endsRequest(prompt: readonly Message[], at: number): boolean {
  const role = prompt[at]?.role;
  const next = prompt[at + 1]?.role;
  return (role === "user" || role === "tool") && (next === undefined || next === "assistant");
}
