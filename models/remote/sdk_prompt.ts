/** Converts a prepared request to the AI SDK's language-model specification. @module */
import type { AnsweredCall, Prepared, Turn } from "./prepared.ts";
import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import type { WireRequest } from "./endpoint.ts";
import { ECHO_LIMIT } from "../../contracts/model/chat.ts";
import { fieldsOf, stringOf, tryJson } from "./wire_json.ts";

type Message = SdkOptions["prompt"][number];

/** Differences between protocols. */
interface SdkWords {
  /** Arguments of a call: text where the wire has text, else an object. */
  readonly argumentsOf: (text: string) => unknown;
  /** Parses a call's echo; absent: the protocol has none. */
  readonly echoOf?: (echo: string | undefined) => OpenaiEcho;
}

const NO_ECHO: OpenaiEcho = { signature: "", thoughts: "" };

/** Converts a request. */
export function sdkOptions(request: Prepared, words: SdkWords): SdkOptions {
  const { system, turns, tools, maxTokens, temperature, seed, stopSequences } = request;
  const lead: Message[] = system === undefined ? [] : [{ role: "system", content: system }];
  // Thoughts belong to the work on the last user message; a later message starts afresh.
  const asked = turns.findLastIndex(({ role }) => role === "user");
  return {
    prompt: [...lead, ...turns.flatMap((turn, at) => messagesOf(turn, words, at > asked))],
    maxOutputTokens: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(seed === undefined ? {} : { seed }),
    ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
    ...(tools.length === 0 ? {} : {
      tools: tools.map(({ name, description, schema }) => ({
        type: "function",
        name,
        description,
        inputSchema: schema,
      })),
      toolChoice: { type: "auto" },
    }),
    ...(request.responseSchema === undefined ? {} : {
      responseFormat: { type: "json", schema: request.responseSchema, name: "response" },
    }),
  };
}

function messagesOf(
  turn: Turn,
  { argumentsOf, echoOf = () => NO_ECHO }: SdkWords,
  current: boolean,
): Message[] {
  if (turn.role === "user") {
    return [{ role: "user", content: [{ type: "text", text: turn.text }] }];
  }
  const { thoughts } = echoOf(turn.calls[0]?.echo);
  const assistant: Message = {
    role: "assistant",
    content: [
      ...(thoughts === "" || !current ? [] : [{ type: "reasoning" as const, text: thoughts }]),
      ...(turn.text === "" ? [] : [{ type: "text" as const, text: turn.text }]),
      ...turn.calls.map(({ id, name, arguments: text, echo }) => {
        const { signature: thoughtSignature } = echoOf(echo);
        return {
          type: "tool-call" as const,
          toolCallId: id,
          toolName: name,
          input: argumentsOf(text),
          ...(thoughtSignature === "" ? {} : { providerOptions: { google: { thoughtSignature } } }),
        };
      }),
    ],
  };
  return turn.calls.length === 0
    ? [assistant]
    : [assistant, { role: "tool", content: turn.calls.map(resultOf) }];
}

function resultOf({ id, name, result, failed }: AnsweredCall) {
  return {
    type: "tool-result" as const,
    toolCallId: id,
    toolName: name,
    output: { type: failed ? "error-text" as const : "text" as const, value: result },
  };
}

// The AI SDK builds the request, with its knowledge of providers and models. Sending and reading are ours
// (docs/decision/0012): the SDK's readers hang when a stream breaks before its first event, fail on unknown
// events, and skip pieces that they cannot place.

/** A language model of the AI SDK, of any provider. */
type SdkModel = Pick<ReturnType<OpenAICompatibleProvider["chatModel"]>, "doStream">;
/** Options of an AI SDK request. */
export type SdkOptions = Parameters<SdkModel["doStream"]>[0];

/** A serialised request. */
type SdkRequest = WireRequest & { readonly body: string };

/** Builds a request. Rejects with the SDK's own error for invalid options. */
export type MakeRequest = (options: SdkOptions) => Promise<SdkRequest>;

/** Shared: creating an error takes as long as building a request. */
const NOTHING_SENT = new TypeError("nothing is sent");

/**
 * Makes a function that builds the requests that the SDK model of `make` would send, and sends nothing. The
 * model is made once, since that takes as long as a request.
 */
export function sdkRequests(
  make: (fetcher: typeof fetch) => SdkModel,
): MakeRequest {
  const caught: { request?: SdkRequest } = {};
  const model = make((url, init) => {
    caught.request = {
      method: "POST",
      path: String(url),
      headers: init?.headers as Readonly<Record<string, string>>,
      body: String(init?.body),
    };
    return Promise.reject(NOTHING_SENT);
  });
  const next = async (options: SdkOptions): Promise<SdkRequest> => {
    delete caught.request;
    try {
      await model.doStream(options);
    } catch (error) {
      if (caught.request === undefined) throw error;
    }
    if (caught.request === undefined) {
      throw new TypeError("Cannot make a request: the SDK made none");
    }
    return caught.request;
  };
  // Serialised, because `caught` is shared.
  let last: Promise<unknown> = Promise.resolve();
  return (options) => {
    const made = last.then(() => next(options));
    last = made.catch(() => undefined);
    return made;
  };
}

// Data that chat-completion servers want back with a model's calls during its work: Gemini signs each call,
// and models that think between calls need their thoughts again.

/** The parts of an echo; empty for none. */
interface OpenaiEcho {
  /** Gemini's signature of one call. */
  readonly signature: string;
  /** Thoughts of the answer, stored with its first call. */
  readonly thoughts: string;
}

/** Serialises an echo, without thoughts that exceed the limit; undefined for an empty one. */
export function echoText({ signature, thoughts }: OpenaiEcho): string | undefined {
  if (signature === "" && thoughts === "") return undefined;
  const text = JSON.stringify({
    ...(signature === "" ? {} : { signature }),
    ...(thoughts === "" ? {} : { thoughts }),
  });
  if (text.length <= ECHO_LIMIT) return text;
  return thoughts === "" ? undefined : echoText({ signature, thoughts: "" });
}

/** Parses an echo; empty if invalid. */
export function parseEcho(text: string | undefined): OpenaiEcho {
  const fields = fieldsOf(tryJson(text ?? ""));
  return { signature: stringOf(fields["signature"]), thoughts: stringOf(fields["thoughts"]) };
}
