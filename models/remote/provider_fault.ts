/** Explains a provider's refusals and network errors as faults. @module */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import { again } from "./retry.ts";
import { fieldsOf, quoted } from "./wire_json.ts";

/** An answer with a status of 300 or more, or an error within a stream. */
export interface Refusal {
  readonly status: number;
  /** The body as text, cut. */
  readonly body: string;
  readonly afterMs?: number | undefined;
}

/** The provider, the model and the key of a request. */
export interface Asked {
  readonly model: string;
  readonly host: string;
  /** The base URL. */
  readonly base: string;
  /** `lent`: from the environment of the person who started the task. */
  readonly key: "kept" | "lent" | "none";
  /** The command that stores a key for this provider. */
  readonly setKey: string;
}

/**
 * How servers say that a request is too long: OpenAI and vLLM, Anthropic, llama.cpp, LM Studio, Ollama, Google, xAI.
 */
const TOO_LONG = [
  /context_length_exceeded|maximum context length|longer than the maximum model length/i,
  /model's context length is only|maximum prompt length is/i,
  /prompt is too long|exceed context limit|input is too long|request_too_large/i,
  /exceed_context_size|exceeds the available context size|input length exceeds/i,
  /greater than the context length|when context the overflows|exceeds? the context (length|window)/i,
  /exceeds the maximum number of (input )?tokens/i,
];
const FILTERED = /\bcontent_filter\b|content management policy|content_policy_violation/i;
/** llama.cpp, Ollama, Hugging Face's servers, LM Studio. */
const LOADING = /loading (the )?model|model (\S+ )?is (currently |still )?(being )?load(ing|ed)\b/i;
const BAD_KEY =
  /invalid_api_key|incorrect api key|api[ _]key[ _](not valid|invalid)|invalid x-api-key/i;
const NO_CREDIT = /insufficient_quota|credit balance is too low|billing_hard_limit/i;

/** The fault of a refused request. */
export function faultOfRefusal(refusal: Refusal, asked: Asked): Fault {
  const { status, body, afterMs } = refusal;
  const words = quoted(body);
  const said = words === "" ? "" : `: ${words}`;
  const make = (code: FaultCode, why: string, detail?: JsonObject): Fault =>
    new Fault(code, `Cannot infer: ${why}`, detail === undefined ? {} : { detail });

  if (status >= 300 && status < 400) {
    return make(
      "upstream",
      `${asked.host} sends the request elsewhere (${status}); give the model's real URL`,
    );
  }
  if (TOO_LONG.some((pattern) => pattern.test(body)) || status === 413) {
    return make("contextOverflow", `the conversation is too long for ${asked.model}${said}`);
  }
  if (FILTERED.test(body)) {
    return make("refused", `the provider's content filter refused it${said}`, { filtered: true });
  }
  if (NO_CREDIT.test(body) || status === 402) {
    return make("refused", `the account at ${asked.host} has no credit left${said}`);
  }
  if (status === 401 || (status === 400 && BAD_KEY.test(body))) {
    return make("refused", `${keyRefused(asked)}${said}`);
  }
  switch (status) {
    case 403:
      return make(
        "refused",
        `${asked.host} refuses the request or its key (403); another key: \`remit secret set\`${said}`,
      );
    case 404:
      return isOfModel(body, asked)
        ? make("notFound", `${asked.host} has no model "${asked.model}"${said}`)
        : make(
          "notFound",
          `nothing answers beneath ${asked.base} (404); look at the model's URL and name${said}`,
        );
    case 408:
    case 409:
      return make("upstream", `${asked.host} answered ${status}${said}`, again(afterMs));
    case 429:
      return make(
        "rateLimited",
        `${asked.host} takes no more requests now; ${
          afterMs === undefined ? "wait" : `wait ${Math.ceil(afterMs / 1_000)} s`
        }, or set \`rates\`${said}`,
        again(afterMs),
      );
    default:
      // An engine that just started answers so until its model is loaded.
      if (status >= 500 && LOADING.test(body)) {
        const why = `${asked.host} is loading its model`;
        return make("upstream", `${why}${said}`, { ...again(afterMs), loading: true });
      }
      return status >= 500
        ? make(
          "upstream",
          `${asked.host} failed with ${status}${later(afterMs)}${said}`,
          again(afterMs),
        )
        : make("invalidInput", `${asked.host} does not take the request (${status})${said}`);
  }
}

function later(afterMs: number | undefined): string {
  return afterMs === undefined ? "" : `, and asks to wait ${Math.ceil(afterMs / 1_000)} s`;
}

function keyRefused({ key, host, setKey }: Asked): string {
  switch (key) {
    case "kept":
      return "the provider refused the key; set it with `remit secret set`";
    case "lent":
      return "the provider refused the key of the environment; export another, or keep one with `remit secret set`";
    case "none":
      return `${host} asks for a key, and there is none; keep one with \`${setKey}\``;
  }
}

/** Providers name the missing model; servers without such an API say only "not found". */
function isOfModel(body: string, { model }: Asked): boolean {
  return body.includes(model) || /\bmodels?\b|\bendpoints found\b/i.test(body);
}

/** HTTP statuses for kinds of errors within a stream: Anthropic, OpenAI, llama.cpp, Google. */
const STATUS_OF: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  invalid_request_error: 400,
  timeout_error: 504,
  billing_error: 402,
  insufficient_quota: 429,
  invalid_api_key: 401,
  unavailable_error: 503,
  RESOURCE_EXHAUSTED: 429,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  INVALID_ARGUMENT: 400,
  UNAVAILABLE: 503,
};
/** Fields that hold the kind of an error; `code` is the most specific. */
const KINDS = ["code", "type", "status"] as const;

/** The fault of an error within a stream. `error` is the provider's value. */
export function faultOfStreamError(error: unknown, asked: Asked): Fault {
  const body = typeof error === "string" ? error : JSON.stringify(error) ?? "";
  const kinds = KINDS.map((name) => fieldsOf(error)[name]);
  const status = kinds.map(statusOf).find((each) => each !== undefined) ?? 500;
  return faultOfRefusal({ status, body }, asked);
}

function statusOf(kind: unknown): number | undefined {
  if (typeof kind !== "number" && typeof kind !== "string") return undefined;
  const number = Number(kind);
  if (Number.isInteger(number) && number >= 400 && number < 600) return number;
  return Object.hasOwn(STATUS_OF, kind) ? STATUS_OF[kind] : undefined;
}

/** The fault of a request without an answer, or whose answer broke off. */
export function faultOfNetwork(
  error: unknown,
  { host, answered }: { readonly host: string; readonly answered: boolean },
): Fault {
  if (error instanceof Fault) return error;
  const text = messagesOf(error);
  const make = (why: string, detail?: JsonObject): Fault =>
    new Fault("upstream", `Cannot infer: ${why}`, {
      ...(detail === undefined ? {} : { detail }),
      cause: error,
    });
  if (answered) return make(`the answer of ${host} broke off`, again());
  if (error instanceof Error && error.name === "NotCapable") {
    return new Fault("refused", `Cannot infer: this service may not reach ${host}`, {
      cause: error,
    });
  }
  if (/dns error|name or service not known|failed to lookup/i.test(text)) {
    return make(`the name of ${host} is not known; look at the model's URL`);
  }
  if (/certificate|issuer|not valid for name/i.test(text)) {
    return make(`${host} has no certificate that this machine trusts`);
  }
  if (/tls|corrupt message/i.test(text)) {
    return make(`${host} does not speak TLS; is the model's URL http instead of https?`);
  }
  if (/refused/i.test(text)) {
    return make(`nothing listens at ${host}; is the server running?`, again());
  }
  if (/reset|closed|broken pipe|eof|incomplete/i.test(text)) {
    return make(`${host} closed the connection without an answer`, again());
  }
  return make(`${host} cannot be reached; look at the model's URL, and at the network`);
}

/** The messages of an error and its causes: Deno gives the reason only in a cause. */
function messagesOf(error: unknown): string {
  let text = "";
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    text += ` ${at.message}`;
  }
  return text;
}
