/** Converts chat-completion chunks to deltas, in the variants of many servers. Used by open.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { FinishReason } from "../../../contracts/model/model.ts";
import type { Delta } from "../assemble.ts";
import { type Asked, faultOfStreamError } from "../provider_fault.ts";
import { again } from "../retry.ts";
import { type Fields, fieldsOf, listOf, numberOf, parseEvent, stringOf } from "../wire_json.ts";
import { echoText } from "../sdk_prompt.ts";

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  // Mistral.
  model_length: "length",
  content_filter: "contentFilter",
  tool_calls: "toolCalls",
  function_call: "toolCalls",
  refusal: "contentFilter",
};
/** The server gave up (OpenRouter and Mistral, DeepSeek, vLLM): the text so far is not the answer. */
const BROKEN: ReadonlySet<string> = new Set(["error", "insufficient_system_resource", "abort"]);

/** Makes a reader of events in order. Throws faults. */
export function makeOpenaiReader(
  { asked, take }: { readonly asked: Asked; readonly take: (delta: Delta) => void },
): { /** True when it was the last one. */ event(data: string): boolean } {
  const calls = makeOpenaiCalls(take);
  let refused = false;
  let finished = false;
  /** Usage came in a form that takes precedence over `timings`. */
  let counted = false;
  /** From `reasoning_content`, the one field whose servers want it back. */
  let thoughts = "";

  const say = (kind: "text" | "rationale", text: string): void => {
    if (text !== "") take({ kind, text });
  };
  const content = (value: unknown): void => {
    if (typeof value === "string") return say("text", value);
    // Mistral sends an array of parts.
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
        // The stream ended without a finish reason.
        if (!finished) finish("stop");
        return true;
      }
      const chunk = parseEvent(data, asked.host);
      const { error, choices } = chunk;
      const choice = fieldsOf(listOf(choices)[0]);
      // Moonshot counts within the choice, Groq in its own field, llama.cpp in `timings` if usage was not requested.
      const usage = chunk["usage"] ?? choice["usage"] ?? fieldsOf(chunk["x_groq"])["usage"] ??
        (counted ? undefined : chunk["timings"]);
      if (error !== undefined && error !== null) throw faultOfStreamError(error, asked);
      if (usage !== undefined && usage !== null) {
        counted ||= usage !== chunk["timings"];
        take(usageOf(fieldsOf(usage)));
      }
      // A server that does not stream sends a whole message.
      const delta = fieldsOf(choice["delta"] ?? choice["message"]);
      thoughts += stringOf(delta["reasoning_content"]);
      say("rationale", stringOf(delta["reasoning_content"] ?? delta["reasoning"]));
      content(delta["content"]);
      if (stringOf(delta["refusal"]) !== "") {
        refused = true;
        say("text", stringOf(delta["refusal"]));
      }
      for (const call of listOf(delta["tool_calls"])) calls.take(fieldsOf(call));
      // Some servers send an empty string instead of null.
      const reason = stringOf(choice["finish_reason"]);
      if (reason !== "") finish(reason);
      return false;
    },
  });
}

/** Field names of each count, in order of precedence. */
const COUNTS = {
  input: ["prompt_tokens", "input_tokens", "prompt_n"],
  output: ["completion_tokens", "output_tokens", "predicted_n"],
  // DeepSeek, Moonshot, llama.cpp; OpenAI counts in `prompt_tokens_details`.
  cached: ["cached_tokens", "prompt_cache_hit_tokens", "cache_n"],
} as const;

/**
 * Token counts of a server. Thoughts are included in the output (OpenAI, DeepSeek) or counted beside it (xAI,
 * Gemini): a total larger than its parts adds to the output. Cached tokens are part of the input.
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
  // Without a total: thoughts that exceed the output are not included in it.
  const apart = total === undefined && said !== undefined && thoughts > said
    ? said + thoughts
    : said;
  const output = larger(apart, rest(total, input));
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

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? a ?? b : Math.max(a, b);
}

// Assigns the pieces of calls in chunks to calls; servers differ in how they mark them.

/** Takes pieces of calls in order. At the end it starts calls that never got a name. */
interface OpenaiCalls {
  take(piece: Fields): void;
  /** `thoughts`: the thoughts of the whole answer. */
  end(thoughts: string): void;
}

interface Call {
  readonly key: string;
  id: string;
  /** A call starts once it has a name. */
  begun: boolean;
  text: string;
  signature: string;
}

function makeOpenaiCalls(give: (delta: Delta) => void): OpenaiCalls {
  const byIndex = new Map<number, Call>();
  const all: Call[] = [];

  const make = (index: number | undefined, id: string): Call => {
    const call: Call = { key: String(all.length), id, begun: false, text: "", signature: "" };
    all.push(call);
    if (index !== undefined) byIndex.set(index, call);
    return call;
  };
  const begin = (call: Call, name: string): void => {
    call.begun = true;
    give({ kind: "callStart", key: call.key, id: call.id === "" ? undefined : call.id, name });
    if (call.text !== "") give({ kind: "callDelta", key: call.key, text: call.text });
  };

  return Object.freeze<OpenaiCalls>({
    take(piece) {
      const index = numberOf(piece["index"]);
      const id = stringOf(piece["id"]);
      const named = fieldsOf(piece["function"]);
      const name = stringOf(named["name"]);
      const text = textOf(named["arguments"]);
      // A server without indexes sends each call whole, or continues the last.
      const known = index !== undefined
        ? byIndex.get(index)
        : all.findLast((call) => id !== "" && call.id === id) ??
          (name === "" ? all.at(-1) : undefined);
      const call = known === undefined || isAnother(known, { id, name, text })
        ? make(index, id)
        : known;
      if (call.id === "" && !call.begun) call.id = id;
      call.signature += signatureOf(piece);
      if (!call.begun && name !== "") {
        call.text += text;
        return begin(call, name);
      }
      call.text += text;
      if (call.begun && text !== "") give({ kind: "callDelta", key: call.key, text });
    },
    end(thoughts) {
      for (const [at, call] of all.entries()) {
        if (!call.begun) begin(call, "");
        const said = { signature: call.signature, thoughts: at === 0 ? thoughts : "" };
        const echo = echoText(said);
        if (echo !== undefined) give({ kind: "callEcho", key: call.key, echo });
      }
    },
  });
}

/** Gemini signs a call together with the thought before it. */
function signatureOf(piece: Fields): string {
  return stringOf(fieldsOf(fieldsOf(piece["extra_content"])["google"])["thought_signature"]);
}

/** Some servers send index 0 for every call: a new id, or a new object behind a complete one, begins another call. */
function isAnother(
  known: Call,
  { id, name, text }: { readonly id: string; readonly name: string; readonly text: string },
): boolean {
  if (name === "" || !known.begun) return false;
  if (id !== "" && known.id !== "") return id !== known.id;
  return id === "" && text.startsWith("{") && isWhole(known.text);
}

function isWhole(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** Arguments as text; some servers send the object itself. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : "";
}
