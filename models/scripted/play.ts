/** Turns a chosen turn into what the model answers. Pure. @module */
import { readProvenance } from "../read_provenance.ts";
import type { ChatMessage, ToolCall } from "../../contracts/chat.ts";
import { CallId } from "../../contracts/ids.ts";
import type { FinishReason, InferenceRequest, InferenceResponse } from "../../contracts/model.ts";
import type { ScriptedTurn } from "./schema.ts";
import { renderText, renderValue } from "./template.ts";
import type { View } from "./view.ts";

const CHARS_A_TOKEN = 4;

/** Counts tokens as every scripted model does: 4 characters a token, rounded up. */
function countTokens(chars: number): number {
  return Math.ceil(chars / CHARS_A_TOKEN);
}

/** Tokens of a request: contents, calls and tool descriptions. */
export function requestTokens({ messages, tools }: InferenceRequest): number {
  let chars = 0;
  for (const message of messages) chars += message.content.length + callChars(message.toolCalls);
  for (const tool of tools) {
    chars += tool.name.length + tool.description.length + tool.paramSchema.length;
  }
  return countTokens(chars);
}

/**
 * Makes the response. Text past `maxTokens` is cut and drops the calls behind it, text ends before a
 * stop sequence; of a turn that says `whole` neither. Throws `upstream` when a template quotes what is not there.
 */
export function playTurn(
  turn: ScriptedTurn,
  view: View,
  request: InferenceRequest,
  source: string,
): InferenceResponse {
  const text = turn.say === undefined ? "" : renderText(turn.say, view);
  const said = turn.whole === true ? { text } : cut(text, request);
  const calls = said.finish === undefined ? makeCalls(turn, view, request.messages) : [];
  const finishReason = turn.finish ?? said.finish ?? (calls.length > 0 ? "toolCalls" : "stop");
  return {
    message: {
      role: "assistant",
      content: said.text,
      ...(calls.length > 0 ? { toolCalls: calls } : {}),
      provenance: readProvenance(request.messages, source),
    },
    usage: turn.usage ?? {
      inputTokens: requestTokens(request),
      outputTokens: countTokens(said.text.length + callChars(calls)),
    },
    finishReason,
  };
}

function cut(
  text: string,
  { maxTokens, stopSequences }: InferenceRequest,
): { readonly text: string; readonly finish?: FinishReason } {
  const stops = (stopSequences ?? []).map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  const stopped = stops.length > 0 ? text.slice(0, Math.min(...stops)) : text;
  const most = maxTokens * CHARS_A_TOKEN;
  if (stopped.length > most) return { text: stopped.slice(0, most), finish: "length" };
  return stops.length > 0 ? { text: stopped, finish: "stop" } : { text };
}

function makeCalls(
  { calls = [] }: ScriptedTurn,
  view: View,
  messages: readonly ChatMessage[],
): ToolCall[] {
  let next = highestId(messages);
  return calls.map(({ tool, args, raw, id }) => ({
    id: id ?? CallId.parse(`call_${++next}`),
    name: tool,
    arguments: raw === undefined
      ? JSON.stringify(renderValue(args ?? {}, view))
      : renderText(raw, view),
  }));
}

/** Ids go on from the highest that is left, so that they stay unique when old messages are dropped. */
function highestId(messages: readonly ChatMessage[]): number {
  let highest = 0;
  for (const { toolCalls = [] } of messages) {
    for (const { id } of toolCalls) {
      const number = id.startsWith("call_") ? Number(id.slice(5)) : NaN;
      if (Number.isSafeInteger(number) && number > highest) highest = number;
    }
  }
  return highest;
}

function callChars(calls: readonly ToolCall[] = []): number {
  return calls.reduce((chars, call) => chars + call.name.length + call.arguments.length, 0);
}
