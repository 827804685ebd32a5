/** A stream of chat completion chunks as deltas, in the ways in which servers write them. @module */
import { Fault } from "../../../contracts/fault.ts";
import type { FinishReason } from "../../../contracts/model.ts";
import type { Delta } from "../answer/delta.ts";
import { makeOpenaiCalls } from "./calls.ts";
import { type Asked, faultOfStreamError } from "../provider_fault.ts";
import { again } from "../retry.ts";
import { type Fields, fieldsOf, listOf, numberOf, parseEvent, stringOf } from "../wire_json.ts";

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  // Mistral's.
  model_length: "length",
  content_filter: "contentFilter",
  tool_calls: "toolCalls",
  function_call: "toolCalls",
  refusal: "contentFilter",
};
/** The server gave up: OpenRouter and Mistral, DeepSeek, vLLM. What came is not the answer. */
const BROKEN: ReadonlySet<string> = new Set(["error", "insufficient_system_resource", "abort"]);

/** Reads the data of events, in their order. Throws faults. */
export function makeOpenaiReader(
  { asked, take }: { readonly asked: Asked; readonly take: (delta: Delta) => void },
): { /** True when it was the last one. */ event(data: string): boolean } {
  const calls = makeOpenaiCalls(take);
  let refused = false;
  let finished = false;
  /** Usage was told in a form that outranks times. */
  let counted = false;
  /** Of the one field that its servers take back. */
  let thoughts = "";

  const say = (kind: "text" | "rationale", text: string): void => {
    if (text !== "") take({ kind, text });
  };
  const content = (value: unknown): void => {
    if (typeof value === "string") return say("text", value);
    // Mistral's servers write parts.
    for (const part of listOf(value).map(fieldsOf)) {
      say("text", stringOf(part["text"]));
      for (const thought of listOf(part["thinking"]).map(fieldsOf)) {
        say("rationale", stringOf(thought["text"]));
      }
    }
  };
  const finish = (reason: string): void => {
    if (BROKEN.has(reason)) {
      const why = `${asked.host} broke its answer off (${reason})`;
      throw new Fault("upstream", `Cannot infer: ${why}`, { detail: again() });
    }
    finished = true;
    calls.end(thoughts);
    const meant = REASONS[reason] ?? "stop";
    take({ kind: "finish", reason: meant === "stop" && refused ? "contentFilter" : meant });
  };

  return Object.freeze({
    event(data: string): boolean {
      if (data === "[DONE]") {
        // The end was said, if not why.
        if (!finished) finish("stop");
        return true;
      }
      const chunk = parseEvent(data, asked.host);
      const { error, choices } = chunk;
      const choice = fieldsOf(listOf(choices)[0]);
      // Moonshot counts in the choice, Groq in a field of its own, llama.cpp with its times where it was not asked.
      const usage = chunk["usage"] ?? choice["usage"] ?? fieldsOf(chunk["x_groq"])["usage"] ??
        (counted ? undefined : chunk["timings"]);
      if (error !== undefined && error !== null) throw faultOfStreamError(error, asked);
      if (usage !== undefined && usage !== null) {
        counted ||= usage !== chunk["timings"];
        take(usageOf(fieldsOf(usage)));
      }
      // A server that does not stream says the whole message.
      const delta = fieldsOf(choice["delta"] ?? choice["message"]);
      thoughts += stringOf(delta["reasoning_content"]);
      say("rationale", stringOf(delta["reasoning_content"] ?? delta["reasoning"]));
      content(delta["content"]);
      if (stringOf(delta["refusal"]) !== "") {
        refused = true;
        say("text", stringOf(delta["refusal"]));
      }
      for (const call of listOf(delta["tool_calls"])) calls.take(fieldsOf(call));
      // Some servers write the empty text where others write null, or "stop" from the beginning on.
      const reason = stringOf(choice["finish_reason"]);
      if (reason !== "") finish(reason);
      return false;
    },
  });
}

/** The names that servers have for each count, in the order in which they are believed. */
const COUNTS = {
  input: ["prompt_tokens", "input_tokens", "prompt_n"],
  output: ["completion_tokens", "output_tokens", "predicted_n"],
  // DeepSeek's, Moonshot's, llama.cpp's beside OpenAI's, which stands in `prompt_tokens_details`.
  cached: ["cached_tokens", "prompt_cache_hit_tokens", "cache_n"],
} as const;

/**
 * Tokens that a server counted. Thoughts are part of the output (OpenAI, DeepSeek) or stand beside it (xAI, Gemini):
 * what a total says more than its parts is output. What was read from a cache is part of the input.
 */
function usageOf(usage: Fields): Delta {
  const first = (names: readonly string[]): number | undefined =>
    names.map((name) => numberOf(usage[name])).find((count) => count !== undefined);
  const total = numberOf(usage["total_tokens"]);
  const asked = fieldsOf(usage["prompt_tokens_details"] ?? usage["input_tokens_details"]);
  const told = fieldsOf(usage["completion_tokens_details"] ?? usage["output_tokens_details"]);
  const said = first(COUNTS.output);
  const uncached = usage["prompt_n"] === undefined ? 0 : numberOf(usage["cache_n"]) ?? 0;
  const counted = first(COUNTS.input);
  const input = counted === undefined
    ? rest(total, said)
    : usage["prompt_tokens"] === undefined
    ? counted + uncached
    : counted;
  const thoughts = numberOf(told["reasoning_tokens"]) ?? numberOf(usage["reasoning_tokens"]) ?? 0;
  // Without a total, thoughts that are more than the whole output are not within it.
  const apart = total === undefined && said !== undefined && thoughts > said
    ? said + thoughts
    : said;
  const output = most(apart, rest(total, input));
  const cacheRead = numberOf(asked["cached_tokens"]) ?? first(COUNTS.cached) ?? 0;
  const cacheWrite = numberOf(asked["cache_write_tokens"]) ?? 0;
  return {
    kind: "usage",
    ...(input === undefined ? {} : { inputTokens: input }),
    ...(output === undefined ? {} : { outputTokens: output }),
    ...(cacheRead === 0 ? {} : { cacheReadTokens: cacheRead }),
    ...(cacheWrite === 0 ? {} : { cacheWriteTokens: cacheWrite }),
  };
}

function rest(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined ? undefined : Math.max(0, total - part);
}

function most(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? a ?? b : Math.max(a, b);
}
