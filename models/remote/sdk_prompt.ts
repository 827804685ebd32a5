/** A prepared request in the words of the AI SDK's language-model specification. @module */
import type { OpenaiEcho } from "./openai/echo.ts";
import type { AnsweredCall, Turn } from "./turns.ts";
import type { Prepared } from "./prepared.ts";
import type { SdkOptions } from "./sdk_request.ts";

type Message = SdkOptions["prompt"][number];

/** How a protocol writes what all have in common. */
export interface SdkWords {
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
