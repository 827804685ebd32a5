/** POST /v1/messages of Anthropic, from its public API documentation. @module */
import { anthropicFailed, checkAnthropic } from "./anthropic_check.ts";
import { type Provider, serveProvider } from "./provider.ts";
import type { Answer, Piece, Said } from "./script.ts";

/** How the server behaves. */
export interface AnthropicOptions {
  /** The accepted key; absent: `sk-ant-test`. */
  readonly key?: string;
  /** The served model; absent: any. */
  readonly model?: string;
  /** Maximum output tokens; absent: 8,192. */
  readonly maxTokens?: number;
  /** Refuses temperature, top_p and top_k, as the newest models do. */
  readonly noSampling?: true;
  readonly answers?: readonly Answer[];
}

/** The default key. */
export const ANTHROPIC_KEY = "sk-ant-test";

/** Serves the Messages API; `url` ends with `/v1`. It only streams. */
export function serveAnthropic(options: AnthropicOptions = {}): Provider {
  return serveProvider({
    base: "/v1",
    path: "/v1/messages",
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    check: (fields, received) => checkAnthropic(fields, received, options),
    other: () => anthropicFailed(404, "not_found_error", "Not found"),
    stream: (said, { model }) => streamAnthropic(said, String(model)),
    empty: anthropicFailed(500, "api_error", "the fixture has no answer left"),
  }, options.answers);
}

const STOPS = {
  stop: "end_turn",
  toolCalls: "tool_use",
  length: "max_tokens",
  contentFilter: "refusal",
} as const;

/** One server-sent event with its type as its name. */
export function anthropicEvent(
  body: { readonly type: string; readonly [key: string]: unknown },
): string {
  return `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
}

/** The events of an answer. */
export function* streamAnthropic(said: Said, model: string): Iterable<Piece> {
  const { thoughts = [], text = [], calls = [], breaks, cut } = said;
  const usage = said.usage === null
    ? { input: 0, output: 0 }
    : said.usage ?? { input: 11, output: 7 };
  const { cacheRead = 0, cacheWrite = 0 } = usage;
  yield anthropicEvent({
    type: "message_start",
    message: {
      id: "msg_fixture",
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        // Input tokens that were not read from the cache.
        input_tokens: usage.input - cacheRead - cacheWrite,
        cache_creation_input_tokens: cacheWrite,
        cache_read_input_tokens: cacheRead,
        output_tokens: 1,
      },
    },
  });
  yield anthropicEvent({ type: "ping" });
  let index = 0;
  const begin = (content_block: object): string =>
    anthropicEvent({ type: "content_block_start", index, content_block });
  const delta = (delta: object): string =>
    anthropicEvent({ type: "content_block_delta", index, delta });
  const end = (): string => anthropicEvent({ type: "content_block_stop", index: index++ });

  if (thoughts.length > 0) {
    yield begin({ type: "thinking", thinking: "", signature: "" });
    for (const thinking of thoughts) yield delta({ type: "thinking_delta", thinking });
    yield delta({ type: "signature_delta", signature: "c2lnbmVk" });
    yield end();
  }
  if (text.length > 0) {
    yield begin({ type: "text", text: "" });
    for (const piece of text) {
      yield typeof piece === "string" ? delta({ type: "text_delta", text: piece }) : piece;
    }
    if (breaks === undefined && cut !== true) yield end();
  }
  if (breaks !== undefined) {
    yield anthropicEvent({ type: "error", error: breaks });
    return;
  }
  for (const [at, { id = `toolu_${at + 1}`, name, pieces }] of calls.entries()) {
    yield begin({ type: "tool_use", id, name, input: {} });
    yield delta({ type: "input_json_delta", partial_json: "" });
    for (const partial_json of pieces) yield delta({ type: "input_json_delta", partial_json });
    if (cut !== true) yield end();
  }
  if (cut === true) return;
  yield anthropicEvent({
    type: "message_delta",
    delta: {
      stop_reason: STOPS[said.stop ?? (calls.length > 0 ? "toolCalls" : "stop")],
      stop_sequence: null,
    },
    usage: { output_tokens: usage.output },
  });
  yield anthropicEvent({ type: "message_stop" });
}
