/** Embeddings of an Ollama server: /api/embed. Used by models/remote/main.ts. @module */
import type { Embeddings, TextEmbedder } from "../../../contracts/model/model.ts";
import type { RemoteConfig } from "../../../contracts/model/model_config.ts";
import type { OpenBody } from "../../../contracts/wire/wire_model.ts";
import { checkTexts } from "../../service.ts";
import type { Endpoint, RemotePowers } from "../endpoint.ts";
import { parseRemoteConfig, remoteInfo } from "../open_config.ts";
import { openEndpoint } from "../open_endpoint.ts";
import { makeRedact } from "../redact/redact.ts";
import { type Fields, unitVectors } from "../wire_json.ts";
import { malformed, objectOf, ollamaFault, wholeOf } from "./json.ts";
import { showModel } from "./show.ts";

/** Texts per request: vectors are long in JSON, and an answer is limited. */
const BATCH = 64;
const CHARS_A_TOKEN = 4;
/** Tokens per text where neither server nor configuration says. */
const EMBED_CONTEXT = 2_048;

/**
 * Opens an embedding model of the server. Faults: `invalidInput` for a wrong configuration, `notFound` for a
 * model that is not pulled, `upstream` for a server that cannot be reached.
 */
export async function openOllamaEmbed(open: OpenBody, powers: RemotePowers): Promise<TextEmbedder> {
  const config = parseRemoteConfig(open);
  const endpoint = openEndpoint(config, open.credential, powers);
  const shown = await showModel(config, endpoint, powers);
  const redact = makeRedact(config.redact ?? []);
  const ask = (texts: readonly string[], signal: AbortSignal): Promise<Embeddings> =>
    askVectors(texts, { config, endpoint, signal });
  const length = shown.vector ??
    (await ask(["length"], new AbortController().signal)).vectors[0]?.length ?? 0;
  const contextTokens = config.contextTokens ?? shown.maxTokens ?? EMBED_CONTEXT;
  const { knobs: _, ...info } = remoteInfo({
    kind: "ollama-embed",
    config: { ...config, contextTokens },
    endpoint,
    knobs: [],
  });

  return Object.freeze<TextEmbedder>({
    info: () =>
      Promise.resolve({ ...info, arch: shown.arch, outputTokens: length, supportsTools: false }),
    async embed(texts, { signal }) {
      checkTexts(texts);
      const said = texts.map(redact);
      const vectors: Float32Array[] = said.map(() => new Float32Array(length));
      const full = [...said.keys()].filter((at) => said[at]?.trim() !== "");
      let inputTokens = 0;
      for (let from = 0; from < full.length; from += BATCH) {
        const batch = full.slice(from, from + BATCH);
        const answer = await ask(batch.map((at) => said[at] ?? ""), signal);
        inputTokens += answer.inputTokens;
        for (const [index, vector] of answer.vectors.entries()) {
          if (vector.length !== length) throw malformed("has vectors of several lengths");
          vectors[batch[index] ?? 0] = vector;
        }
      }
      return { vectors, inputTokens };
    },
  });
}

async function askVectors(
  texts: readonly string[],
  { config, endpoint, signal }: {
    readonly config: RemoteConfig;
    readonly endpoint: Endpoint;
    readonly signal: AbortSignal;
  },
): Promise<Embeddings> {
  try {
    return await endpoint.retrying(async () => {
      const { body } = await endpoint.send({
        method: "POST",
        path: "/api/embed",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: config.model, input: texts, truncate: true }),
      }, { signal });
      return embeddingsOf(await objectOf(body), texts, endpoint.host);
    }, signal);
  } catch (error) {
    throw ollamaFault(error, config.model);
  }
}

function embeddingsOf(
  answer: Fields,
  texts: readonly string[],
  host: string,
): Embeddings {
  const given = answer["embeddings"];
  if (!Array.isArray(given) || given.length !== texts.length) {
    throw malformed("has not one vector for each text");
  }
  const estimate = texts.reduce((sum, text) => sum + Math.ceil(text.length / CHARS_A_TOKEN), 0);
  return {
    vectors: unitVectors(given.map(numbersOf), host),
    inputTokens: wholeOf(answer["prompt_eval_count"], 0) ?? estimate,
  };
}

function numbersOf(given: unknown): readonly number[] {
  if (!Array.isArray(given) || !given.every((value) => typeof value === "number")) {
    throw malformed("has a vector that is none");
  }
  return given;
}
