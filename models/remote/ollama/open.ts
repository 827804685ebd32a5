/** A language model of an Ollama server, by its native API. @module */
import { Fault } from "../../../contracts/fault.ts";
import type { LanguageModel } from "../../../contracts/model.ts";
import type { OpenBody } from "../../../contracts/wire_model.ts";
import { LINE_BYTES } from "../answer/bounded_body.ts";
import { callDialect } from "../dialect/mod.ts";
import { dialectOf } from "../dialect_of.ts";
import { parseRemoteConfig, remoteInfo } from "../open_config.ts";
import { openEndpoint } from "../open_endpoint.ts";
import type { RemotePowers } from "../powers.ts";
import { makeRemoteModel, type Stream } from "../remote_model.ts";
import { chatBody } from "./chat_body.ts";
import { readChat } from "./chat_stream.ts";
import { ollamaFault } from "./fault.ts";
import { showModel, type Shown, shownInRecording } from "./show.ts";

/**
 * Context in tokens where nobody says: what a model could take at most would fill the memory of most
 * machines, and what a server gives by itself holds no long conversation.
 */
const OLLAMA_CONTEXT = 16_384;

/**
 * Opens a model that the server has. Faults: `invalidInput` for a wrong configuration, `notFound` for a
 * model that is not pulled, `upstream` when the server cannot be reached.
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

function contextOf({ setTokens, mostTokens }: Shown): number {
  return Math.min(setTokens ?? OLLAMA_CONTEXT, mostTokens ?? Infinity);
}

function noTools(model: string): Fault {
  const why =
    "Ollama says that it takes none; choose a model with tools, or set `dialect: [hermes]`";
  return new Fault("invalidInput", `Cannot give tools to ${JSON.stringify(model)}: ${why}`);
}
