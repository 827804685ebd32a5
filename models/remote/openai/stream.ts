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
      const { error, usage, choices } = chunk;
      if (error !== undefined && error !== null) throw faultOfStreamError(error, asked);
      if (usage !== undefined && usage !== null) take(usageOf(fieldsOf(usage)));
      const choice = fieldsOf(listOf(choices)[0]);
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

/** What was read from the provider's cache is part of the input; nobody tells of writing to one. */
function usageOf(usage: Fields): Delta {
  const inputTokens = numberOf(usage["prompt_tokens"]);
  const outputTokens = numberOf(usage["completion_tokens"]);
  const cacheReadTokens = numberOf(fieldsOf(usage["prompt_tokens_details"])["cached_tokens"]) ?? 0;
  return {
    kind: "usage",
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(cacheReadTokens === 0 ? {} : { cacheReadTokens }),
  };
}
