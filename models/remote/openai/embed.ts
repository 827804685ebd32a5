/** Embeddings at any base URL with an OpenAI-compatible `/embeddings`. Used by models/remote/main.ts. @module */
import { tryJson, unitVectors } from "../wire_json.ts";
import * as z from "zod";
import { Fault } from "../../../contracts/base/fault.ts";
import type { TextEmbedder } from "../../../contracts/model/model.ts";
import type { OpenBody } from "../../../contracts/wire/wire_model.ts";
import { checkTexts } from "../../service.ts";
import { parseRemoteConfig, remoteInfo } from "../open_config.ts";
import { openEndpoint } from "../open_endpoint.ts";
import type { RemotePowers } from "../endpoint.ts";
import { makeRedact } from "../redact/redact.ts";
import { textOfBody } from "../answer/body.ts";

/** TRUST: from the provider; the endpoint limits the body. */
const Answer = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
  usage: z.object({ prompt_tokens: z.int().min(0).optional() }).optional(),
});

/** Characters per token, a low estimate, because texts are cut by it. */
const CHARS_A_TOKEN = 3;
/** Default context in tokens; servers refuse longer texts. */
const CONTEXT_TOKENS = 2_048;
/** Sent in place of an empty text, which providers refuse. */
const BLANK = " ";
/** A text to learn the length of vectors from. */
const PROBE = "length";

/**
 * Opens an embedder; one request determines the length of its vectors. Faults: `invalidInput` for a wrong
 * configuration, and the provider's refusals.
 */
export async function openOpenaiEmbed(
  open: OpenBody,
  powers: RemotePowers,
): Promise<TextEmbedder> {
  const given = parseRemoteConfig(open);
  const config = { ...given, contextTokens: given.contextTokens ?? contextOf(given.model) };
  const endpoint = openEndpoint({ ...config, base: "/v1" }, open.credential, powers);
  const redact = makeRedact(config.redact ?? []);
  const shape = remoteInfo({ kind: "openai-embed", config, endpoint, knobs: [] });
  const maxChars = shape.contextTokens * CHARS_A_TOKEN;

  async function ask(texts: readonly string[], signal: AbortSignal) {
    const body = await endpoint.retrying(async () => {
      const answer = await endpoint.send({
        method: "POST",
        path: "/embeddings",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ model: config.model, input: texts, encoding_format: "float" }),
      }, { signal });
      return await textOfBody(answer.body);
    }, signal);
    const parsed = Answer.safeParse(tryJson(body));
    if (!parsed.success) throw wrong(endpoint.host, "what is no list of vectors");
    const { data, usage } = parsed.data;
    const inOrder = data.toSorted((a, b) => a.index - b.index);
    if (inOrder.length !== texts.length || inOrder.some(({ index }, n) => index !== n)) {
      throw wrong(endpoint.host, `${data.length} vectors for ${texts.length} texts`);
    }
    return {
      vectors: unitVectors(inOrder.map(({ embedding }) => embedding), endpoint.host),
      inputTokens: usage?.prompt_tokens ??
        Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / CHARS_A_TOKEN),
    };
  }

  const probe = await ask([PROBE], new AbortController().signal);
  const dimensions = probe.vectors[0]?.length ?? 0;
  const info = { ...shape, outputTokens: dimensions, supportsTools: false };

  return Object.freeze<TextEmbedder>({
    info: () => Promise.resolve(info),
    async embed(texts, { signal }) {
      checkTexts(texts);
      if (texts.length === 0) return { vectors: [], inputTokens: 0 };
      const sent = texts.map((text) => redact(text).slice(0, maxChars).toWellFormed() || BLANK);
      const { vectors, inputTokens } = await ask(sent, signal);
      if (vectors.some(({ length }) => length !== dimensions)) {
        throw wrong(endpoint.host, `vectors that are not ${dimensions} long`);
      }
      // An empty text has the zero vector.
      const empty = new Float32Array(dimensions);
      return {
        vectors: vectors.map((vector, n) => texts[n]?.trim() === "" ? empty : vector),
        inputTokens,
      };
    },
  });
}

/** OpenAI documents 8,191 tokens for its models of this prefix. */
function contextOf(model: string): number {
  return model.startsWith("text-embedding-") ? 8_191 : CONTEXT_TOKENS;
}

function wrong(host: string, what: string): Fault {
  return new Fault("upstream", `Cannot embed: ${host} sends ${what}`);
}
