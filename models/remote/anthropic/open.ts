/** Opens models of Anthropic's messages API. Used by models/remote/main.ts. @module */
import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModel } from "../../../contracts/model/model.ts";
import type { OpenBody } from "../../../contracts/wire/wire_model.ts";
import { makeAnthropicReader } from "./stream.ts";
import { eventsOfAnswer, LINE_BYTES } from "../answer/body.ts";
import { dialectOf } from "../dialect_of.ts";
import { parseRemoteConfig, remoteInfo } from "../open_config.ts";
import { openEndpoint } from "../open_endpoint.ts";
import type { RemotePowers } from "../endpoint.ts";
import type { Prepared } from "../prepared.ts";
import { makeRemoteModel } from "../remote_model.ts";
import { type MakeRequest, type SdkOptions, sdkOptions, sdkRequests } from "../sdk_prompt.ts";
import { fieldsOf, listOf } from "../wire_json.ts";

/** The SDK requires a key. The endpoint replaces this one with the real key. */
const PLACEHOLDER = "placeholder";
/** The SDK's name of the tool that emulates structured output. */
const ANSWER_TOOL = "json";

/** Opens a model. Throws `invalidInput` for a wrong configuration. */
export async function openAnthropic(open: OpenBody, powers: RemotePowers): Promise<LanguageModel> {
  const config = parseRemoteConfig(open);
  const endpoint = openEndpoint(
    { ...config, base: "/v1", keyHeader: "x-api-key" },
    open.credential,
    powers,
  );
  const requestOf = sdkRequests((fetcher) =>
    createAnthropic({ baseURL: endpoint.base, apiKey: PLACEHOLDER, fetch: fetcher })
      .languageModel(config.model)
  );
  return makeRemoteModel({
    info: remoteInfo({
      kind: "anthropic",
      config,
      endpoint,
      knobs: [
        ...(await heedsTemperature(requestOf) ? ["temperature" as const] : []),
        "stopSequences",
        "responseSchema",
      ],
    }),
    config,
    endpoint,
    dialect: await dialectOf(config),
    stream: async (request, { take, signal, onWire }) => {
      const { seed: _none, ...rest } = request;
      const wire = await requestOf(withBreakpoints(sdkOptions(rest, { argumentsOf: JSON.parse })));
      const answerTool = addsAnswerTool(wire.body, request) ? ANSWER_TOOL : undefined;
      const reader = makeAnthropicReader({ asked: endpoint.asked, take, answerTool });
      const answer = await endpoint.send(wire, { signal, onWire, lineBytes: LINE_BYTES });
      for await (const data of eventsOfAnswer(answer, endpoint.host)) reader.event(data);
    },
  });
}

/** Newer models accept no temperature; the SDK knows which. */
async function heedsTemperature(requestOf: MakeRequest): Promise<boolean> {
  const { body } = await requestOf({
    prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
    maxOutputTokens: 1,
    temperature: 0.5,
  });
  return Object.hasOwn(JSON.parse(body), "temperature");
}

function addsAnswerTool(body: string, { tools, responseSchema }: Prepared): boolean {
  if (responseSchema === undefined || tools.some(({ name }) => name === ANSWER_TOOL)) return false;
  return listOf(fieldsOf(JSON.parse(body))["tools"])
    .some((tool) => fieldsOf(tool)["name"] === ANSWER_TOOL);
}

// Cache breakpoints: what Anthropic caches for the next request of the same loop.

type Message = SdkOptions["prompt"][number];

/** Cached for five minutes, renewed with each use. */
const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;
/**
 * Breakpoints in the conversation, beside the one on instructions and tools: its end, and its end one request
 * ago, because the provider looks back only twenty blocks from a breakpoint.
 */
const MAX_BREAKPOINTS = 2;

/**
 * Adds cache breakpoints to the stable prefix; the provider caches only on request. A request without tools
 * is not repeated, and writing the cache costs a quarter more than reading input.
 */
function withBreakpoints(options: SdkOptions): SdkOptions {
  if (options.tools === undefined) return options;
  const { prompt } = options;
  const ends = [...prompt.keys()].filter((at) => endsRequest(prompt, at)).slice(-MAX_BREAKPOINTS);
  return {
    ...options,
    prompt: prompt.map((message, at) =>
      message.role === "system" || ends.includes(at)
        ? { ...message, providerOptions: MARK }
        : message
    ),
  };
}

/** Whether this is the last message before the model's next answer. */
function endsRequest(prompt: readonly Message[], at: number): boolean {
  const role = prompt[at]?.role;
  const next = prompt[at + 1]?.role;
  return (role === "user" || role === "tool") && (next === undefined || next === "assistant");
}
