/** Ollama's native API, from its public documentation: chat, show, tags, version, embed. @module */
import { checkOllama } from "./ollama_check.ts";
import { asList, type Provider, serveProvider } from "./provider.ts";
import type { Answer, Failed, Piece, Said } from "./script.ts";
import type { Received } from "./server.ts";

/** A model of the server. */
export interface OllamaModel {
  readonly name: string;
  /** Absent: 8,192. */
  readonly contextTokens?: number;
  /** Absent: `completion` and `tools`. `null`: not reported, as by an older server. */
  readonly capabilities?: readonly string[] | null;
  /** Length of an embedding model's vectors. */
  readonly vector?: number;
}

/** How the server behaves. */
export interface OllamaOptions {
  /** Absent: only `tiny:latest`. */
  readonly models?: readonly OllamaModel[];
  /** A key that a proxy in front of it requires, as a bearer token. */
  readonly key?: string;
  /** Newer servers give calls ids; these ids are no better than ours. */
  readonly ids?: true;
  readonly answers?: readonly Answer[];
  /** Answers of `/api/show` and `/api/embed` in place of the regular ones, in order. */
  readonly others?: readonly Failed[];
}

/** Serves Ollama; `url` is its origin. */
export function serveOllama(options: OllamaOptions = {}): Provider {
  const models = options.models ?? [{ name: "tiny:latest" }];
  const others = [...options.others ?? []];
  const find = (name: unknown): OllamaModel | undefined =>
    models.find((model) => model.name === name || model.name === `${String(name)}:latest`);
  const locked = ({ headers }: Received): Failed | undefined =>
    options.key === undefined || headers.authorization === `Bearer ${options.key}`
      ? undefined
      : { status: 401, body: { error: "unauthorized" } };
  return serveProvider({
    base: "",
    path: "/api/chat",
    headers: { "content-type": "application/x-ndjson" },
    check: (fields, received) =>
      locked(received) ?? checkOllama(fields, find(fields.model), { ids: options.ids === true }),
    other: (received) => locked(received) ?? others.shift() ?? otherOf(received, models, find),
    stream: (said, { model }) => streamOllama(said, String(model), options.ids === true),
    empty: { status: 500, body: { error: "the fixture has no answer left" } },
  }, options.answers);
}

/** One line of a stream. */
export function ollamaLine(fields: object): string {
  return `${JSON.stringify(fields)}\n`;
}

/** The lines of an answer. */
export function* streamOllama(said: Said, model: string, ids = false): Iterable<Piece> {
  const { thoughts = [], text = [], calls = [], usage, breaks, cut } = said;
  const line = (message: object, more: object = {}): string =>
    ollamaLine({
      model,
      created_at: "2026-01-01T00:00:00.000000000Z",
      message: { role: "assistant", content: "", ...message },
      done: false,
      ...more,
    });
  for (const thinking of thoughts) yield line({ thinking });
  for (const content of text) yield typeof content === "string" ? line({ content }) : content;
  if (breaks !== undefined) yield ollamaLine({ error: breaks.message });
  if (breaks !== undefined || cut === true) return;
  for (const [index, { id = `call_${index}fix`, name, pieces }] of calls.entries()) {
    const given: unknown = pieces.length === 0 ? {} : JSON.parse(pieces.join(""));
    yield line({
      tool_calls: [{ ...ids ? { id } : {}, function: { index, name, arguments: given } }],
    });
  }
  yield line({}, {
    done: true,
    done_reason: said.stop === "length" ? "length" : "stop",
    total_duration: 10_706_818,
    load_duration: 6_338_219,
    ...usage === null ? {} : {
      prompt_eval_count: usage?.input ?? 11,
      prompt_eval_duration: 130_079,
      eval_count: usage?.output ?? 7,
      eval_duration: 4_232_710,
    },
  });
}

function otherOf(
  { path, method, body }: Received,
  models: readonly OllamaModel[],
  find: (name: unknown) => OllamaModel | undefined,
): Failed {
  if (path === "/api/version" && method === "GET") {
    return { status: 200, body: { version: "0.33.3" } };
  }
  if (path === "/api/tags" && method === "GET") {
    return {
      status: 200,
      body: {
        models: models.map(({ name }) => ({
          name,
          model: name,
          size: 1_000_000,
          digest: "0".repeat(64),
          details: details(),
        })),
      },
    };
  }
  if (method !== "POST") return { status: 404, body: "404 page not found" };
  const fields: Record<string, unknown> = JSON.parse(body);
  const model = find(fields.model);
  if (model === undefined) {
    return { status: 404, body: { error: `model '${String(fields.model)}' not found` } };
  }
  if (path === "/api/show") return { status: 200, body: show(model) };
  if (path === "/api/embed") return embed(model, fields);
  return { status: 404, body: "404 page not found" };
}

const details = (): object => ({
  parent_model: "",
  format: "gguf",
  family: "llama",
  families: ["llama"],
  parameter_size: "1.2B",
  quantization_level: "Q4_K_M",
});

function show({ contextTokens = 8_192, capabilities, vector = 8 }: OllamaModel): object {
  return {
    license: "MIT",
    modelfile: "FROM tiny",
    parameters: "",
    template: "{{ .Prompt }}",
    details: details(),
    model_info: {
      "general.architecture": "llama",
      "general.parameter_count": 1_235_814_432,
      "llama.context_length": contextTokens,
      "llama.embedding_length": vector,
    },
    ...capabilities === null ? {} : { capabilities: capabilities ?? ["completion", "tools"] },
    modified_at: "2026-01-01T00:00:00Z",
  };
}

// A vector that differs between texts and does not have length 1, so that a client must normalise it.
function embed(
  { name, vector = 8, contextTokens = 8_192 }: OllamaModel,
  fields: Record<string, unknown>,
): Failed {
  const texts = typeof fields.input === "string"
    ? [fields.input]
    : asList(fields.input).map(String);
  if (fields.truncate === false && texts.some((text) => text.length > contextTokens)) {
    return { status: 400, body: { error: "the input length exceeds the context length" } };
  }
  return {
    status: 200,
    body: {
      model: name,
      embeddings: texts.map((text) => {
        const sums: number[] = new Array(vector).fill(0);
        for (let at = 0; at < text.length; at++) {
          const code = text.charCodeAt(at);
          sums[code % vector] = (sums[code % vector] ?? 0) + 1 + code / 100;
        }
        return sums;
      }),
      total_duration: 14_143_917,
      load_duration: 1_019_500,
      prompt_eval_count: texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0),
    },
  };
}
