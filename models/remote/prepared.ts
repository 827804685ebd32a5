/** A request made ready for the wire of any provider. @module */
import type { ChatMessage } from "../../contracts/model/chat.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { InferenceRequest, ModelInfo } from "../../contracts/model/model.ts";
import type { RemoteConfig } from "../../contracts/model/model_config.ts";
import { type Advertised, parseSchema, wireCallId, type WireTool } from "./advertised.ts";

/** A request with everything a provider needs: names and ids fit the wire, rules were applied. */
export interface Prepared extends Turns {
  readonly tools: readonly WireTool[];
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly stopSequences?: readonly string[];
  readonly responseSchema?: JsonObject;
}

/** Makes a request ready. `told` are its messages after redaction. Throws `invalidInput` for a bad schema. */
export function prepare(
  request: InferenceRequest,
  { told, advertised, config, info }: {
    readonly told: readonly ChatMessage[];
    readonly advertised: Advertised;
    readonly config: RemoteConfig;
    readonly info: ModelInfo;
  },
): Prepared {
  const { system, turns } = turnsOf(told, info.id);
  const temperature = request.temperature ?? config.temperature;
  const seed = request.seed ?? config.seed;
  const { stopSequences, responseSchema } = request;
  return {
    system,
    turns: turns.map((turn) =>
      turn.role === "user" ? turn : {
        ...turn,
        calls: turn.calls.map((call) => ({
          ...call,
          id: wireCallId(call.id),
          name: advertised.names.wire(call.name),
          arguments: objectText(call.arguments),
        })),
      }
    ),
    tools: advertised.tools,
    maxTokens: Math.min(request.maxTokens, info.outputTokens),
    ...(temperature === undefined ? {} : { temperature }),
    ...(seed === undefined ? {} : { seed }),
    ...(stopSequences === undefined || stopSequences.length === 0 ? {} : { stopSequences }),
    ...(responseSchema === undefined ? {} : { responseSchema: parseSchema(responseSchema) }),
  };
}

/** Servers read a call's arguments back as an object: what a model wrote wrongly is put into one. */
function objectText(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // What would be a prototype to another's parser is no object to us.
    if (isObject && !text.includes("__proto__")) return text;
  } catch {
    // The model is shown what it wrote.
  }
  return JSON.stringify({ invalid_arguments: text });
}

// A conversation in the order that every provider takes: one system text, then people and model
// by turns, each call answered at once, nothing empty.

/** A call with what came of it. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote it: not always JSON. */
  readonly arguments: string;
  readonly result: string;
  /** The result says that nothing was done as asked. */
  readonly failed: boolean;
  /** What the model that is asked wants back with it; absent: nothing, or another model said it. */
  readonly echo?: string;
}

/** One turn. */
export type Turn =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly AnsweredCall[] };

/** A conversation that begins and ends with a person, or ends with results. */
interface Turns {
  /** Absent: none. */
  readonly system: string | undefined;
  readonly turns: readonly Turn[];
}

const EMPTY = "(empty)";
const UNANSWERED = "(this call was not made)";
const BEGIN = "(the conversation so far was shortened)";
const GO_ON = "(go on)";
/** How a result begins that is not `ok`: the runner writes the outcome first. */
const FAILED =
  /^(refusedByPolicy|deniedByUser|stepUpFailed|executionError|timedOut|cancelled|invalidArguments|unknownTool): /;

/** Brings messages in order, for the model of this id. Nothing that was said is left out. */
export function turnsOf(messages: readonly ChatMessage[], model: string): Turns {
  const first = messages.findIndex(({ role }) => role !== "system");
  const lead = first < 0 ? messages : messages.slice(0, first);
  const system = lead.map(({ content }) => content).filter(isSaid).join("\n\n");
  const turns: Turn[] = [];
  const results = resultsOf(messages);
  const used = new Set<ChatMessage>();

  const user = (text: string): void => {
    const last = turns.at(-1);
    if (last?.role !== "user") turns.push({ role: "user", text: isSaid(text) ? text : EMPTY });
    else if (isSaid(text)) turns[turns.length - 1] = { role: "user", text: join(last.text, text) };
  };

  for (const message of messages.slice(lead.length)) {
    if (message.role === "assistant") {
      const own = message.provenance.source === model;
      const calls = (message.toolCalls ?? []).map(({ id, name, arguments: args, echo }) => {
        const result = results.get(id)?.shift();
        if (result !== undefined) used.add(result);
        const text = result?.content ?? UNANSWERED;
        return {
          id,
          name,
          arguments: args,
          result: isSaid(text) ? text : EMPTY,
          failed: result === undefined || FAILED.test(text),
          ...(own && echo !== undefined ? { echo } : {}),
        };
      });
      if (calls.length === 0 && !isSaid(message.content)) continue;
      if (turns.length === 0) user(BEGIN);
      const last = turns.at(-1);
      if (last?.role === "assistant" && last.calls.length === 0) {
        turns[turns.length - 1] = {
          ...last,
          text: join(last.text, message.content).trimEnd(),
          calls,
        };
      } else turns.push({ role: "assistant", text: message.content.trimEnd(), calls });
    } else if (message.role !== "tool") user(message.content);
    // A result whose call is gone is still something that was read.
    else if (!used.has(message)) user(message.content);
  }
  const last = turns.at(-1);
  if (last === undefined) user(BEGIN);
  else if (last.role === "assistant" && last.calls.length === 0) user(GO_ON);
  return { system: system === "" ? undefined : system, turns };
}

/** Results by the id of their call, in their order. */
function resultsOf(messages: readonly ChatMessage[]): Map<string, ChatMessage[]> {
  const results = new Map<string, ChatMessage[]>();
  for (const message of messages) {
    if (message.role !== "tool" || message.toolCallId === undefined) continue;
    const known = results.get(message.toolCallId);
    if (known === undefined) results.set(message.toolCallId, [message]);
    else known.push(message);
  }
  return results;
}

function isSaid(text: string): boolean {
  return text.trim() !== "";
}

function join(before: string, after: string): string {
  return before === "" || before === EMPTY ? after : `${before}\n\n${after}`;
}
