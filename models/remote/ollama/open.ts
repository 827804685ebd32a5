/** Language models of an Ollama server, by its native API. Used by models/remote/main.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { LanguageModel } from "../../../contracts/model/model.ts";
import type { OpenBody } from "../../../contracts/wire/wire_model.ts";
import { LINE_BYTES } from "../answer/body.ts";
import {
  type CallDialect,
  callDialect,
  callText,
  resultText,
  toolsPrompt,
} from "../dialect/mod.ts";
import { dialectOf } from "../dialect_of.ts";
import { parseRemoteConfig, remoteInfo } from "../open_config.ts";
import { openEndpoint } from "../open_endpoint.ts";
import type { RemotePowers, WireResponse } from "../endpoint.ts";
import { makeRemoteModel, type Prepared, type Stream } from "../remote_model.ts";
import { linesOf, malformed, ollamaFault, parseFields, wholeOf } from "./json.ts";
import { showModel, type Shown, shownInRecording } from "./show.ts";
import type { Delta } from "../assemble.ts";
import { type Asked, faultOfStreamError } from "../provider_fault.ts";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import { type Fields, fieldsOf, listOf, stringOf } from "../wire_json.ts";

/**
 * Default context in tokens: the maximum of a model would fill the memory of most machines, and a server's
 * own default is too short for long conversations.
 */
const OLLAMA_CONTEXT = 16_384;

/**
 * Opens a model of the server. Faults: `invalidInput` for a wrong configuration, `notFound` for a model that
 * is not pulled, `upstream` for a server that cannot be reached.
 */
export async function openOllama(open: OpenBody, powers: RemotePowers): Promise<LanguageModel> {
  const config = parseRemoteConfig(open);
  const endpoint = openEndpoint(config, open.credential, powers);
  const shown = config.replay === undefined
    ? await showModel(config, endpoint, powers)
    : shownInRecording(config.replay);
  const spoken = callDialect(config.dialect ?? []);
  const inWords = shown.tools ? undefined : spoken;
  const takesTools = shown.tools || inWords !== undefined;
  const info = {
    ...remoteInfo({
      kind: "ollama",
      config: { ...config, contextTokens: config.contextTokens ?? contextOf(shown) },
      endpoint,
      knobs: ["temperature", "seed", "stopSequences", "responseSchema"],
    }),
    arch: shown.arch,
    ...(shown.quantisation === undefined ? {} : { quantisation: shown.quantisation }),
    supportsTools: takesTools,
  };
  const fixed = { model: config.model, contextTokens: info.contextTokens, inWords };

  const stream: Stream = async (request, { signal, onWire, take }) => {
    if (request.tools.length > 0 && !takesTools) throw noTools(config.model);
    try {
      const { body } = await endpoint.send({
        method: "POST",
        path: "/api/chat",
        headers: { "content-type": "application/json", accept: "application/x-ndjson" },
        body: chatBody(request, fixed),
      }, { signal, onWire, lineBytes: LINE_BYTES });
      await readChat(body, { asked: endpoint.asked, take });
    } catch (error) {
      throw ollamaFault(error, config.model);
    }
  };
  return makeRemoteModel({ info, config, endpoint, stream, dialect: await dialectOf(config) });
}

function contextOf({ setTokens, maxTokens }: Shown): number {
  return Math.min(setTokens ?? OLLAMA_CONTEXT, maxTokens ?? Infinity);
}

function noTools(model: string): Fault {
  const why =
    "Ollama says that it takes none; choose a model with tools, or set `dialect: [hermes]`";
  return new Fault("invalidInput", `Cannot give tools to ${JSON.stringify(model)}: ${why}`);
}

// Converts the lines of /api/chat to deltas. TRUST: from the provider.

/** Reads an answer line by line. Rejects with the server's error as a fault, or with `upstream`. */
async function readChat(
  body: WireResponse["body"],
  { asked, take }: { readonly asked: Asked; readonly take: (delta: Delta) => void },
): Promise<void> {
  let calls = 0;
  let done = false;
  for await (const line of linesOf(body)) {
    if (done) throw malformed("goes on after its end");
    const fields = parseFields(line);
    if (fields["error"] !== undefined) throw faultOfStreamError(fields["error"], asked);
    const message = fieldsOf(fields["message"]);
    const [thinking, content] = [stringOf(message["thinking"]), stringOf(message["content"])];
    if (thinking !== "") take({ kind: "rationale", text: thinking });
    if (content !== "") take({ kind: "text", text: content });
    for (const call of listOf(message["tool_calls"])) {
      // The server's ids are unique only within one answer, so new ones are made.
      const key = String(calls++);
      const { name, text } = callOf(call);
      take({ kind: "callStart", key, name });
      take({ kind: "callDelta", key, text });
    }
    if (fields["done"] !== true) continue;
    done = true;
    take(usageOf(fields));
    take({ kind: "finish", reason: fields["done_reason"] === "length" ? "length" : "stop" });
  }
}

function callOf(call: unknown): { readonly name: string; readonly text: string } {
  const given = fieldsOf(fieldsOf(call)["function"]);
  const name = given["name"];
  if (typeof name !== "string" || name === "") throw malformed("has a call without a name");
  const args = given["arguments"] ?? {};
  // Text is the model's own; the gate validates it.
  if (typeof args === "string") return { name, text: args };
  try {
    return { name, text: JSON.stringify(args) };
  } catch (cause) {
    throw malformed("has arguments that are nested too deeply", cause);
  }
}

function usageOf(fields: Fields): Delta {
  const inputTokens = wholeOf(fields["prompt_eval_count"], 0);
  const outputTokens = wholeOf(fields["eval_count"], 0);
  return {
    kind: "usage",
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}

/** The parts that every request shares. */
interface ChatFixed {
  readonly model: string;
  readonly contextTokens: number;
  /** The form of calls in the prompt; absent: the API takes tools. */
  readonly inWords?: CallDialect | undefined;
}

/** The body as JSON text; deterministic. */
function chatBody(
  request: Prepared,
  { model, contextTokens, inWords }: ChatFixed,
): string {
  const { tools, temperature, seed, stopSequences, responseSchema } = request;
  const free = tools.length === 0;
  const system = [
    request.system ?? "",
    inWords === undefined ? "" : toolsPrompt(tools, inWords),
    // A format constrains every token, so that a model could not make calls: with tools, the schema is part
    // of the prompt.
    responseSchema === undefined || free
      ? ""
      : `Give your final answer as JSON of this schema: ${JSON.stringify(responseSchema)}`,
  ].filter((text) => text !== "").join("\n\n");
  const messages = request.turns.flatMap((turn) =>
    inWords === undefined ? messagesOf(turn) : textsOf(turn, inWords)
  );
  return JSON.stringify({
    model,
    messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...messages],
    stream: true,
    // Otherwise the server drops the beginning of a conversation that is too long, without a warning.
    truncate: false,
    shift: false,
    ...(free || inWords !== undefined ? {} : {
      tools: tools.map(({ name, description, schema }) => ({
        type: "function",
        function: { name, description, parameters: schema },
      })),
    }),
    ...(responseSchema === undefined || !free ? {} : { format: responseSchema }),
    options: {
      num_ctx: contextTokens,
      num_predict: request.maxTokens,
      ...(temperature === undefined ? {} : { temperature }),
      ...(seed === undefined ? {} : { seed }),
      ...(stopSequences === undefined ? {} : { stop: stopSequences }),
    },
  });
}

type Turn = Prepared["turns"][number];

function messagesOf(turn: Turn): readonly JsonObject[] {
  if (turn.role === "user") return [{ role: "user", content: turn.text }];
  const { text, calls } = turn;
  if (calls.length === 0) return [{ role: "assistant", content: text }];
  return [
    {
      role: "assistant",
      content: text,
      tool_calls: calls.map(({ name, arguments: args }) => ({
        // `prepare` guarantees the text of an object.
        function: { name, arguments: JSON.parse(args) as Json },
      })),
    },
    ...calls.map(({ name, result }) => ({ role: "tool", tool_name: name, content: result })),
  ];
}

function textsOf(turn: Turn, dialect: CallDialect): readonly JsonObject[] {
  if (turn.role === "user" || turn.calls.length === 0) return messagesOf(turn);
  const { text, calls } = turn;
  const said = [text, ...calls.map((call) => callText(call, dialect))];
  return [
    { role: "assistant", content: said.filter((part) => part !== "").join("\n") },
    { role: "user", content: calls.map((call) => resultText(call, dialect)).join("\n") },
  ];
}
