/** A prepared request in the words of the AI SDK's language-model specification. @module */
import type { AnsweredCall, Prepared, Turn } from "./prepared.ts";
import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import type { WireRequest } from "./endpoint.ts";
import { ECHO_LIMIT } from "../../contracts/model/chat.ts";
import { fieldsOf, stringOf, tryJson } from "./wire_json.ts";

type Message = SdkOptions["prompt"][number];

/** How a protocol writes what all have in common. */
interface SdkWords {
  /** A call's arguments: as text where the wire has text, else as an object. */
  readonly argumentsOf: (text: string) => unknown;
  /** What a call's echo says; absent: the protocol has none. */
  readonly echoOf?: (echo: string | undefined) => OpenaiEcho;
}

const NO_ECHO: OpenaiEcho = { signature: "", thoughts: "" };

/** Writes a request. */
export function sdkOptions(request: Prepared, words: SdkWords): SdkOptions {
  const { system, turns, tools, maxTokens, temperature, seed, stopSequences } = request;
  const lead: Message[] = system === undefined ? [] : [{ role: "system", content: system }];
  // Thoughts belong to the work on the last message of a person: later ones begin anew.
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

// What the AI SDK would send: its knowledge of providers and models makes the request. Sending
// it and reading the answer are ours (docs/decision/0012): its readers hang when a stream breaks
// before its first event, fail on events that are newer than they are, and pass over pieces they
// cannot place.

/** A language model of the AI SDK, of whichever provider. */
type SdkModel = Pick<ReturnType<OpenAICompatibleProvider["chatModel"]>, "doStream">;
/** What such a model is asked with. */
export type SdkOptions = Parameters<SdkModel["doStream"]>[0];

/** A request as text, ready to be sent. */
type SdkRequest = WireRequest & { readonly body: string };

/** Makes the request of given options. Rejects with the SDK's own error where it takes them for wrong. */
export type MakeRequest = (options: SdkOptions) => Promise<SdkRequest>;

/** One for all: an error that is made takes as long as the request. */
const NOTHING_SENT = new TypeError("nothing is sent");

/**
 * Makes what the model that `make` gives would send. Nothing is sent. The model is made once: that
 * takes as long as a request.
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
  // One after the other: the first is under way while the others are made, and none is another's.
  let last: Promise<unknown> = Promise.resolve();
  return (options) => {
    const made = last.then(() => next(options));
    last = made.catch(() => undefined);
    return made;
  };
}

// What servers of chat completions want said back with a model's calls while it works on: Gemini
// signs each call, and models that think between calls are to find their thoughts again.

/** The parts of an echo; the empty text for none. */
interface OpenaiEcho {
  /** Gemini's, of one call. */
  readonly signature: string;
  /** Of the answer that made the call: with its first one. */
  readonly thoughts: string;
}

/** Writes an echo, without thoughts that are too long to keep; undefined for an empty one. */
export function echoText({ signature, thoughts }: OpenaiEcho): string | undefined {
  if (signature === "" && thoughts === "") return undefined;
  const text = JSON.stringify({
    ...(signature === "" ? {} : { signature }),
    ...(thoughts === "" ? {} : { thoughts }),
  });
  if (text.length <= ECHO_LIMIT) return text;
  return thoughts === "" ? undefined : echoText({ signature, thoughts: "" });
}

/** Reads one; empty for what is none. */
export function parseEcho(text: string | undefined): OpenaiEcho {
  const fields = fieldsOf(tryJson(text ?? ""));
  return { signature: stringOf(fields["signature"]), thoughts: stringOf(fields["thoughts"]) };
}
