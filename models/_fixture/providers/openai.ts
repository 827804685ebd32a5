/**
 * POST /v1/chat/completions, POST /v1/embeddings and GET /v1/models, from the public API documentation, with the
 * differences of compatible servers.
 * @module
 */
import { checkOpenai } from "./openai_check.ts";
import { openaiFailed } from "./openai_errors.ts";
import { asList, type Provider, serveProvider } from "./provider.ts";
import type { Answer, Failed, Piece, Said } from "./script.ts";
import type { Received } from "./server.ts";

/** The server that it imitates. */
export type OpenaiVariant = "openai" | "llamacpp" | "vllm" | "lmstudio" | "openrouter";

/** How the server behaves. */
export interface OpenaiOptions {
  /** Absent: `openai`. */
  readonly variant?: OpenaiVariant;
  /** The accepted key; absent: `sk-test`; `null`: no key required. */
  readonly key?: string | null;
  /** The served model; absent: any. */
  readonly model?: string;
  /** Requires `max_completion_tokens` and no temperature, as reasoning models do. */
  readonly reasoning?: true;
  /** Maximum output tokens; absent: 16,384. */
  readonly maxTokens?: number;
  /** Length of an embedding; absent: 8. */
  readonly vector?: number;
  readonly answers?: readonly Answer[];
  /** Answers of `/v1/embeddings` and `/v1/models` in place of the regular ones, in order. */
  readonly others?: readonly Failed[];
}

/** The default key. */
export const OPENAI_KEY = "sk-test";

/** Serves the chat completions API; `url` ends with `/v1`. It only streams. */
export function serveOpenai(options: OpenaiOptions = {}): Provider {
  const variant = options.variant ?? "openai";
  const others = [...options.others ?? []];
  return serveProvider({
    base: "/v1",
    path: "/v1/chat/completions",
    headers: { "content-type": "text/event-stream" },
    check: (fields, received) => checkOpenai(fields, received, options),
    other: (received) => locked(received, options) ?? others.shift() ?? otherOf(received, options),
    stream: (said, fields) => streamOpenai(said, { fields, variant }),
    empty: openaiFailed(variant, 500, "the fixture has no answer left", { type: "server_error" }),
  }, options.answers);
}

/** Refuses a request without the right key. */
export function locked({ headers }: Received, { key, variant }: OpenaiOptions): Failed | undefined {
  const right = key === undefined ? (variant === "llamacpp" ? null : OPENAI_KEY) : key;
  if (right === null || headers.authorization === `Bearer ${right}`) return undefined;
  const given = headers.authorization;
  const message = given === undefined
    ? "You didn't provide an API key."
    : `Incorrect API key provided: ${given.replace(/^Bearer /, "").slice(0, 8)}***.`;
  return openaiFailed(variant ?? "openai", 401, message, { code: "invalid_api_key" });
}

const STOPS = {
  stop: "stop",
  toolCalls: "tool_calls",
  length: "length",
  contentFilter: "content_filter",
} as const;

/** One server-sent event. */
export function openaiEvent(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

/** The events of an answer, ending with `[DONE]`. */
export function* streamOpenai(
  said: Said,
  { fields, variant }: {
    readonly fields: Readonly<Record<string, unknown>>;
    readonly variant: OpenaiVariant;
  },
): Iterable<Piece> {
  const { thoughts = [], text = [], calls = [], breaks, cut } = said;
  const options = fields.stream_options;
  const told = typeof options === "object" && options !== null && "include_usage" in options &&
    options.include_usage === true;
  const usage = said.usage === null ? undefined : said.usage ?? { input: 11, output: 7 };
  const counted = usage === undefined ? undefined : {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    ...(variant === "openai"
      ? { prompt_tokens_details: { cached_tokens: "cacheRead" in usage ? usage.cacheRead : 0 } }
      : {}),
  };
  const head = {
    id: "chatcmpl-fixture",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: fields.model,
    ...variant === "openrouter" ? { provider: "Fixture" } : {},
    ...variant === "openai" ? { system_fingerprint: "fp_fixture" } : {},
  };
  const chunk = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
    openaiEvent({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...variant === "openai" && told ? { usage: null } : {},
      ...more,
    });

  if (variant === "openrouter") yield ": OPENROUTER PROCESSING\n\n";
  yield chunk({ role: "assistant", content: variant === "llamacpp" ? null : "" });
  const thought = variant === "openrouter" ? "reasoning" : "reasoning_content";
  for (const piece of thoughts) yield chunk({ [thought]: piece });
  for (const piece of text) {
    if (variant === "openrouter") yield ": OPENROUTER PROCESSING\n\n";
    yield typeof piece === "string" ? chunk({ content: piece }) : piece;
  }
  if (breaks !== undefined) {
    yield variant === "openrouter"
      ? chunk({ content: "" }, "error", { error: { code: 502, message: breaks.message } })
      : openaiEvent({
        error: { message: breaks.message, type: breaks.type, param: null, code: null },
      });
    return;
  }
  const whole = variant === "lmstudio";
  for (const [index, { id = `call_${index + 1}`, name, pieces }] of calls.entries()) {
    const first = whole ? pieces.join("") : "";
    yield chunk({
      ...variant === "vllm" ? {} : { content: null },
      tool_calls: [{ index, id, type: "function", function: { name, arguments: first } }],
    });
    if (whole) continue;
    for (const piece of pieces) {
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  if (cut === true) return;
  const finish = STOPS[said.stop ?? (calls.length > 0 ? "toolCalls" : "stop")];
  yield chunk(
    {},
    finish,
    variant === "openrouter" && counted !== undefined ? { usage: counted } : {},
  );
  // LM Studio reports no usage; OpenRouter has reported it already.
  if (told && counted !== undefined && variant !== "lmstudio" && variant !== "openrouter") {
    yield openaiEvent({
      ...head,
      choices: [],
      usage: counted,
      ...variant === "llamacpp" ? { timings: { prompt_n: 11, predicted_n: 7 } } : {},
    });
  }
  yield "data: [DONE]\n\n";
}

function otherOf(
  { path, method, body }: Received,
  { variant = "openai", model, vector = 8 }: OpenaiOptions,
): Failed {
  if (path === "/v1/models" && method === "GET") {
    return {
      status: 200,
      body: {
        object: "list",
        data: [{
          id: model ?? "tiny",
          object: "model",
          created: 1_700_000_000,
          owned_by: "fixture",
        }],
      },
    };
  }
  if (path !== "/v1/embeddings" || method !== "POST") {
    return openaiFailed(variant, 404, `Invalid URL (${method} ${path})`);
  }
  const fields: Record<string, unknown> = JSON.parse(body);
  const texts = typeof fields.input === "string"
    ? [fields.input]
    : asList(fields.input).map(String);
  if (texts.length === 0 || (variant === "openai" && texts.includes(""))) {
    return openaiFailed(variant, 400, "'$.input' is invalid.", { param: "input" });
  }
  if (texts.some((text) => text.length > 32_768)) {
    return openaiFailed(
      variant,
      400,
      "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.",
      { param: "input", code: "context_length_exceeded" },
    );
  }
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  return {
    status: 200,
    body: {
      object: "list",
      model: fields.model,
      data: texts.map((text, index) => ({
        object: "embedding",
        index,
        embedding: coded(vectorOf(text, vector), fields.encoding_format),
      })).reverse(), // The index gives the order, not the list.
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    },
  };
}

// A vector that differs between texts and does not have length 1, so that a client must normalise it.
function vectorOf(text: string, length: number): readonly number[] {
  const sums: number[] = new Array(length).fill(0);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    sums[code % length] = (sums[code % length] ?? 0) + 1 + code / 100;
  }
  return sums;
}

function coded(vector: readonly number[], format: unknown): unknown {
  if (format !== "base64") return vector;
  return new Uint8Array(Float32Array.from(vector).buffer).toBase64();
}
