/**
 * What a request for inference may cost, and what its answer says that it used: read off the three wires, so that an
 * agent of others is charged by its provider's words and never by its own.
 * @module
 */
import { isList, isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type {
  ProviderWire,
  RelayInference,
  RelayUsage,
} from "../../../contracts/tool/foreign_agent.ts";

/** Tokens of an answer where a request bounds none. */
const UNBOUNDED = 32_000;
/** Characters of a token, and tokens of a picture or another long word. */
const CHARS = 4, PICTURE = 1_600;
const LONG_WORD = 10_000;

/** Members that bound an answer, the first that is there; the first is written where none is. */
const BOUNDS: Readonly<Record<Exclude<ProviderWire, "gemini">, readonly string[]>> = {
  anthropic: ["max_tokens"],
  openai: ["max_output_tokens", "max_completion_tokens", "max_tokens"],
};

/** What an inference would cost; undefined for a request that is none: models listed, tokens counted. */
export function inferenceIn(
  wire: ProviderWire,
  path: string,
  body: Json | undefined,
): Omit<RelayInference, "bytes"> | undefined {
  if (!isObject(body) || /count_?tokens/i.test(path)) return undefined;
  const named = wire === "gemini" ? /\/models\/([^:/]+):/.exec(path)?.[1] : body["model"];
  return {
    model: (typeof named === "string" ? named : "").slice(0, 256),
    input: Math.ceil(sizeOf(body)),
    maxTokens: boundOf(wire, body) ?? UNBOUNDED,
  };
}

/**
 * The request with an answer of at most so many tokens, whose stream says at its end what it used; undefined where it
 * is so already.
 */
export function bounded(
  wire: ProviderWire,
  path: string,
  { body, maxTokens }: { readonly body: Json | undefined; readonly maxTokens: number },
): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  // OpenAI's other wire, and nobody else, tells a stream's tokens on request alone.
  const chat = wire === "openai" && path.endsWith("/chat/completions");
  const silent = chat && body["stream"] === true;
  const asked = boundOf(wire, body) ?? UNBOUNDED;
  if (asked <= maxTokens && !silent) return undefined;
  const told = silent
    ? { ...body, stream_options: { ...objectIn(body["stream_options"]), include_usage: true } }
    : body;
  if (asked <= maxTokens) return told;
  if (wire === "gemini") {
    const config = objectIn(body["generationConfig"]);
    return { ...told, generationConfig: { ...config, maxOutputTokens: maxTokens } };
  }
  const names = BOUNDS[wire];
  const name = names.find((each) => body[each] !== undefined) ??
    (chat ? "max_completion_tokens" : names[0] ?? "");
  return { ...told, [name]: maxTokens };
}

function boundOf(wire: ProviderWire, body: JsonObject): number | undefined {
  const found = wire === "gemini"
    ? objectIn(body["generationConfig"])["maxOutputTokens"]
    : BOUNDS[wire].map((name) => body[name]).find((each) => each !== undefined && each !== null);
  return typeof found === "number" && Number.isSafeInteger(found) && found > 0
    ? Math.min(found, 1e9)
    : undefined;
}

const objectIn = (value: Json | undefined): JsonObject => isObject(value) ? value : {};

/** Tokens of all texts in a body, about. */
function sizeOf(value: Json): number {
  if (typeof value === "string") {
    // A picture as text: providers count it by its area.
    return value.length > LONG_WORD && !/\s/.test(value.slice(0, LONG_WORD))
      ? PICTURE
      : value.length / CHARS;
  }
  if (isList(value)) return value.reduce<number>((sum, each) => sum + sizeOf(each), 0);
  if (!isObject(value)) return 1;
  return Object.entries(value).reduce(
    (sum, [name, each]) => sum + name.length / CHARS + sizeOf(each),
    0,
  );
}

/** What an answer, or a piece of its stream, says that it used; undefined where it says nothing. */
export function usageIn(piece: Json): RelayUsage | undefined {
  if (!isObject(piece)) return undefined;
  for (const name of ["response", "message"]) {
    const inner = piece[name];
    const found = inner === undefined ? undefined : usageIn(inner);
    if (found !== undefined) return found;
  }
  const usage = piece["usage"] ?? piece["usageMetadata"];
  if (!isObject(usage)) return undefined;
  const sum = (from: JsonObject, ...names: readonly string[]): number =>
    names.reduce((all, name) => {
      const n = from[name];
      return all + (typeof n === "number" && Number.isSafeInteger(n) && n > 0 ? n : 0);
    }, 0);
  const details = objectIn(usage["input_tokens_details"] ?? usage["prompt_tokens_details"]);
  // Anthropic counts what its cache had beside the input, the others within it.
  const read = sum(usage, "cache_read_input_tokens");
  const written = sum(usage, "cache_creation_input_tokens");
  return bounds({
    input: sum(usage, "input_tokens", "prompt_tokens", "promptTokenCount") +
      sum(usage, "toolUsePromptTokenCount") + read + written,
    output: sum(
      usage,
      ...["output_tokens", "completion_tokens", "candidatesTokenCount", "thoughtsTokenCount"],
    ),
    cacheRead: read + sum(details, "cached_tokens") + sum(usage, "cachedContentTokenCount"),
    cacheWrite: written,
  });
}

/** A provider may count as it likes. */
function bounds(usage: RelayUsage): RelayUsage {
  const most = (n: number): number => Math.min(n, 1e9);
  const { input, output, cacheRead, cacheWrite } = usage;
  return {
    ...{ input: most(input), output: most(output) },
    ...{ cacheRead: most(cacheRead), cacheWrite: most(cacheWrite) },
  };
}

/** The usage of an answer, read while it passes. */
export interface UsageReader {
  take(text: string): void;
  /** What was used, as far as it was heard; what was not told is estimated. */
  used(): RelayUsage;
}

/** Most characters of one line, and of a document, that are read. */
const MAX_LINE = 4 * 1024 * 1024;

/** Reads a stream's lines, or one document. `input`: tokens that were sent, as estimated. */
export function makeUsageReader({ input }: { readonly input: number }): UsageReader {
  let line = "", skipping = false, document = "", events = 0, characters = 0;
  let most: RelayUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const look = (text: string): void => {
    const tokens = usageIn(parsed(text.replace(/^data:\s*/, "")));
    if (tokens === undefined) return;
    most = {
      input: Math.max(most.input, tokens.input),
      output: Math.max(most.output, tokens.output),
      cacheRead: Math.max(most.cacheRead, tokens.cacheRead),
      cacheWrite: Math.max(most.cacheWrite, tokens.cacheWrite),
    };
  };
  return Object.freeze<UsageReader>({
    take(text): void {
      characters += text.length;
      if (document.length < MAX_LINE) document += text;
      for (const piece of text.split(/(?<=\n)/)) {
        if (line.length + piece.length > MAX_LINE) skipping = true;
        line = skipping ? "" : line + piece;
        if (!piece.endsWith("\n")) continue;
        if (line.startsWith("data:") || skipping) {
          events += 1;
          if (!skipping) look(line);
        }
        line = "";
        skipping = false;
      }
    },
    used(): RelayUsage {
      look(line);
      // A stream's text is no document.
      if (events === 0) look(document);
      const { output } = most;
      return {
        ...most,
        input: most.input || input,
        // Of a stream about a token an event; of a document about a token every four characters.
        output: output || (events > 0 ? events : Math.ceil(characters / CHARS)),
      };
    },
  });
}

/** A JSON text; null where it is none. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
