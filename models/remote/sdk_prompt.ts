/** A prepared request in the words of the AI SDK's language-model specification. @module */
import type { AnsweredCall, Turn } from "./turns.ts";
import type { Prepared } from "./prepared.ts";
import type { SdkOptions } from "./sdk_request.ts";

type Message = SdkOptions["prompt"][number];

/** `argumentsOf` writes a call's arguments: as text where the wire has text, else as an object. */
export function sdkOptions(
  request: Prepared,
  { argumentsOf }: { readonly argumentsOf: (text: string) => unknown },
): SdkOptions {
  const { system, turns, tools, maxTokens, temperature, seed, stopSequences } = request;
  const lead: Message[] = system === undefined ? [] : [{ role: "system", content: system }];
  return {
    prompt: [...lead, ...turns.flatMap((turn) => messagesOf(turn, argumentsOf))],
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

function messagesOf(turn: Turn, argumentsOf: (text: string) => unknown): Message[] {
  if (turn.role === "user") {
    return [{ role: "user", content: [{ type: "text", text: turn.text }] }];
  }
  const assistant: Message = {
    role: "assistant",
    content: [
      ...(turn.text === "" ? [] : [{ type: "text" as const, text: turn.text }]),
      ...turn.calls.map(({ id, name, arguments: text }) => ({
        type: "tool-call" as const,
        toolCallId: id,
        toolName: name,
        input: argumentsOf(text),
      })),
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
