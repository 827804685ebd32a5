/** Prepares a request for the wire of any provider. @module */
import type { ChatMessage } from "../../contracts/model/chat.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { InferenceRequest, ModelInfo } from "../../contracts/model/model.ts";
import type { RemoteConfig } from "../../contracts/model/model_config.ts";
import { type Advertised, parseSchema, wireCallId, type WireTool } from "./advertised.ts";

/** A request whose names and ids fit the wire, with redaction and limits applied. */
export interface Prepared extends Turns {
  readonly tools: readonly WireTool[];
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly stopSequences?: readonly string[];
  readonly responseSchema?: JsonObject;
}

/** Prepares a request. `told` are its messages after redaction. Throws `invalidInput` for a bad schema. */
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

/** Servers parse a call's arguments as an object, so malformed ones are wrapped in an object. */
function objectText(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // `__proto__` could set a prototype in the server's parser.
    if (isObject && !text.includes("__proto__")) return text;
  } catch {
    // The model sees what it wrote.
  }
  return JSON.stringify({ invalid_arguments: text });
}

// The conversation in the form that every provider accepts: one system text, then alternating turns of user
// and model, each call answered at once, no empty text.

/** A call with its result. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them: not always JSON. */
  readonly arguments: string;
  readonly result: string;
  /** The result reports a failure or refusal. */
  readonly failed: boolean;
  /** Opaque data that the asked model wants back; absent for none, and for a call of another model. */
  readonly echo?: string;
}

/** One turn. */
export type Turn =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly AnsweredCall[] };

/** A conversation that begins with the user, and ends with the user or with results. */
interface Turns {
  /** Absent: none. */
  readonly system: string | undefined;
  readonly turns: readonly Turn[];
}

const EMPTY = "(empty)";
const UNANSWERED = "(this call was not made)";
const BEGIN = "(the conversation so far was shortened)";
const GO_ON = "(go on)";
/** The beginning of a failed result: the runner writes the outcome first. */
const FAILED =
  /^(refusedByPolicy|deniedByUser|stepUpFailed|executionError|timedOut|cancelled|invalidArguments|unknownTool): /;

/** Orders messages for the model of this id. No text is left out. */
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
    // A result whose call is gone was read all the same.
    else if (!used.has(message)) user(message.content);
  }
  const last = turns.at(-1);
  if (last === undefined) user(BEGIN);
  else if (last.role === "assistant" && last.calls.length === 0) user(GO_ON);
  return { system: system === "" ? undefined : system, turns };
}

/** Results by call id, in order. */
function resultsOf(messages: readonly ChatMessage[]): Map<string, ChatMessage[]> {
  const results = new Map<string, ChatMessage[]>();
  for (const message of messages) {
    if (message.role !== "tool" || message.toolCallId === undefined) continue;
    results.getOrInsert(message.toolCallId, []).push(message);
  }
  return results;
}

function isSaid(text: string): boolean {
  return text.trim() !== "";
}

function join(before: string, after: string): string {
  return before === "" || before === EMPTY ? after : `${before}\n\n${after}`;
}
