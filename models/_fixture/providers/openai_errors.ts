/** Errors of OpenAI and of compatible servers. @module */
import type { OpenaiVariant } from "./openai.ts";
import type { Failed } from "./script.ts";

/** Details of an error. */
export interface OpenaiWrong {
  readonly type?: string;
  readonly param?: string;
  readonly code?: string;
}

/** An error in the variant's form. */
export function openaiFailed(
  variant: OpenaiVariant,
  status: number,
  message: string,
  { type = "invalid_request_error", param, code }: OpenaiWrong = {},
  headers: Readonly<Record<string, string>> = {},
): Failed {
  const bodies: Readonly<Record<OpenaiVariant, unknown>> = {
    openai: { error: { message, type, param: param ?? null, code: code ?? null } },
    llamacpp: { error: { code: status, message, type } },
    vllm: { error: { message, type: "BadRequestError", param: param ?? null, code: status } },
    lmstudio: { error: message },
    openrouter: { error: { code: status, message, metadata: { provider_name: "Fixture" } } },
  };
  return { status, headers: { "x-request-id": "req_fixture", ...headers }, body: bodies[variant] };
}

/** Errors that a test adds to the queue. */
export const OPENAI_ERRORS = Object.freeze({
  rateLimit: (seconds: number): Failed =>
    openaiFailed("openai", 429, "Rate limit reached for requests", {
      type: "requests",
      code: "rate_limit_exceeded",
    }, { "retry-after": String(seconds) }),
  noQuota: openaiFailed("openai", 429, "You exceeded your current quota, please check your plan.", {
    type: "insufficient_quota",
    code: "insufficient_quota",
  }),
  tooLong: openaiFailed(
    "openai",
    400,
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    { param: "messages", code: "context_length_exceeded" },
  ),
  tooLongLlamacpp: {
    status: 400,
    body: {
      error: {
        code: 400,
        message:
          "request (8889 tokens) exceeds the available context size (4096 tokens), try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 8_889,
        n_ctx: 4_096,
      },
    },
  },
  filtered: openaiFailed(
    "openai",
    400,
    "The response was filtered due to the prompt triggering content management policy.",
    { code: "content_filter", param: "prompt" },
  ),
  internal: openaiFailed("openai", 500, "The server had an error while processing your request", {
    type: "server_error",
  }),
  loading: openaiFailed("llamacpp", 503, "Loading model", { type: "unavailable_error" }),
  /** A proxy's error. */
  gateway: {
    status: 502,
    headers: { "content-type": "text/html" },
    body: "<html><body><h1>502 Bad Gateway</h1></body></html>",
  },
});
