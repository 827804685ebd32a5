/** A request made ready for the wire of any provider. @module */
import type { ChatMessage } from "../../contracts/chat.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { InferenceRequest, ModelInfo } from "../../contracts/model.ts";
import type { RemoteConfig } from "../../contracts/model_config.ts";
import { type Advertised, parseSchema, type WireTool } from "./advertised.ts";
import { wireCallId } from "./tool_names.ts";
import { type Turns, turnsOf } from "./turns.ts";

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
