/**
 * Models of any server with chat completions: OpenAI, llama.cpp, vLLM, LM Studio, OpenRouter. Used
 * by models/remote/main.ts.
 * @module
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type { LanguageModel } from "../../../contracts/model/model.ts";
import type { OpenBody } from "../../../contracts/wire/wire_model.ts";
import { eventsOfAnswer, LINE_BYTES } from "../answer/body.ts";
import { dialectOf } from "../dialect_of.ts";
import { parseRemoteConfig, remoteInfo } from "../open_config.ts";
import { openEndpoint } from "../open_endpoint.ts";
import { parseEcho, sdkOptions, sdkRequests } from "../sdk_prompt.ts";
import { makeOpenaiReader } from "./stream.ts";
import type { RemotePowers } from "../endpoint.ts";
import { makeRemoteModel } from "../remote_model.ts";

/** Requires `max_completion_tokens`: its newer models refuse `max_tokens`. */
const OPENAI_HOST = "api.openai.com";

/** Opens a model. Throws `invalidInput` for a wrong configuration. */
export async function openOpenai(open: OpenBody, powers: RemotePowers): Promise<LanguageModel> {
  const config = parseRemoteConfig(open);
  const endpoint = openEndpoint({ ...config, base: "/v1" }, open.credential, powers);
  const info = remoteInfo({
    kind: "openai",
    config,
    endpoint,
    knobs: ["temperature", "seed", "stopSequences", "responseSchema"],
  });
  const requestOf = sdkRequests((fetcher) =>
    createOpenAICompatible({
      name: "openai",
      baseURL: endpoint.base,
      fetch: fetcher,
      includeUsage: true,
      supportsStructuredOutputs: true,
      transformRequestBody: (body) => bodyFor(endpoint.host, body),
    }).chatModel(config.model)
  );
  return makeRemoteModel({
    info,
    config,
    endpoint,
    dialect: await dialectOf(config),
    stream: async (request, { take, signal, onWire }) => {
      const wire = await requestOf({
        ...sdkOptions(request, { argumentsOf: (text) => text, echoOf: parseEcho }),
        ...(request.responseSchema === undefined || isStrict(request.responseSchema)
          ? {}
          : { providerOptions: { openai: { strictJsonSchema: false } } }),
      });
      const reader = makeOpenaiReader({ asked: endpoint.asked, take });
      const answer = await endpoint.send(wire, { signal, onWire, lineBytes: LINE_BYTES });
      for await (const data of eventsOfAnswer(answer, endpoint.host)) if (reader.event(data)) break;
    },
  });
}

function bodyFor(host: string, body: Record<string, unknown>): Record<string, unknown> {
  if (host !== OPENAI_HOST) return body;
  const { max_tokens, ...rest } = body;
  return { ...rest, max_completion_tokens: max_tokens };
}

/** OpenAI refuses a strict schema unless each object requires all its properties and allows no others. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== "object" || schema === null) return true;
  const { type, properties = {}, required = [], additionalProperties } = schema as JsonObject;
  if (type === "object" && !namesAll({ properties, required, additionalProperties })) return false;
  return Object.values(schema).every(isStrict);
}

function namesAll(
  { properties, required, additionalProperties }: Readonly<Record<string, unknown>>,
): boolean {
  return additionalProperties === false && Array.isArray(required) &&
    typeof properties === "object" && properties !== null &&
    Object.keys(properties).every((name) => required.includes(name));
}
