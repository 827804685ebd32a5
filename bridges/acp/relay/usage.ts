/**
 * The cost of a foreign agent's inference on three wires: an estimate from the request, and the
 * usage that the provider reports. The agent's own figures never count. Used by relay_powers.ts.
 * @module
 */
import { isList, isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type {
  ProviderWire,
  RelayInference,
  RelayUsage,
} from "../../../contracts/tool/foreign_agent.ts";
import { boundsOf, isCount, isSet, isWords } from "./rules.ts";

/** Tokens of an answer when a request sets no limit. */
const DEFAULT_TOKENS = 32_000;
/** Characters of a token, and tokens of a picture. */
const CHARS_PER_TOKEN = 4, PICTURE_TOKENS = 1_600;

/** The estimate for a request; undefined for one without inference, such as listing models. */
export function inferenceIn(
  wire: ProviderWire,
  path: string,
  body: Json | undefined,
): Omit<RelayInference, "bytes"> | undefined {
  if (!isObject(body) || /[/:]count_?tokens$/i.test(path)) return undefined;
  const named = wire === "gemini" ? /\/models\/([^:/]+):/.exec(path)?.[1] : body["model"];
  return {
    model: (typeof named === "string" ? named : "").slice(0, 256),
    input: Math.ceil(sizeOf(body, { words: false })),
    maxTokens: boundOf(wire, path, body) ?? DEFAULT_TOKENS,
    whole: !isStreamed(path, body),
  };
}

/**
 * The request with an answer limited to `maxTokens`, whose stream ends with its usage; undefined
 * when the request needs no change.
 */
export function bounded(
  wire: ProviderWire,
  path: string,
  { body, maxTokens }: { readonly body: Json | undefined; readonly maxTokens: number },
): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  // Only OpenAI's chat completions report a stream's usage on request alone.
  const chat = wire === "openai" && path.endsWith("/chat/completions");
  const silent = chat && body["stream"] === true;
  const asked = boundOf(wire, path, body) ?? DEFAULT_TOKENS;
  if (asked <= maxTokens && !silent) return undefined;
  const reporting = silent
    ? { ...body, stream_options: { ...objectIn(body["stream_options"]), include_usage: true } }
    : body;
  if (asked <= maxTokens) return reporting;
  const names = boundsOf(wire, path);
  const holder = holderOf(wire, body);
  const there = names.filter((name) => isSet(holder[name]));
  const rewritten = Object.fromEntries(
    (there.length > 0 ? there : names.slice(0, 1)).map((name) => [name, maxTokens]),
  );
  return wire === "gemini"
    ? { ...reporting, generationConfig: { ...holder, ...rewritten } }
    : { ...reporting, ...rewritten };
}

/** The highest of a request's own limits: a provider may heed any of them. */
function boundOf(wire: ProviderWire, path: string, body: JsonObject): number | undefined {
  const holder = holderOf(wire, body);
  const found = boundsOf(wire, path).map((name) => holder[name]).filter(isCount);
  return found.length === 0 ? undefined : Math.min(Math.max(...found), 1e9);
}

/** The object that holds a request's limits. */
const holderOf = (wire: ProviderWire, body: JsonObject): JsonObject =>
  wire === "gemini" ? objectIn(body["generationConfig"]) : body;

const objectIn = (value: Json | undefined): JsonObject => isObject(value) ? value : {};

/** Whether the answer is streamed. */
function isStreamed(path: string, body: Json | undefined): boolean {
  return path.endsWith(":streamGenerateContent") || (isObject(body) && body["stream"] === true);
}

/** Estimated tokens of a body; `words`: inside tool arguments, where nothing counts as a picture. */
function sizeOf(value: Json, { words }: { readonly words: boolean }): number {
  if (typeof value === "string") return value.length / CHARS_PER_TOKEN;
  if (isList(value)) return value.reduce<number>((sum, each) => sum + sizeOf(each, { words }), 0);
  if (!isObject(value)) return 1;
  const picture = words ? undefined : pictureIn(value);
  return Object.entries(value).reduce(
    (sum, [name, each]) =>
      sum + name.length / CHARS_PER_TOKEN +
      (name === picture ? PICTURE_TOKENS : sizeOf(each, { words: words || isWords(name, each) })),
    0,
  );
}

/**
 * The member of an object that holds a base64 picture, which providers count by its area. Length
 * alone does not make a text a picture, or an agent could hide data in one.
 */
function pictureIn(value: JsonObject): string | undefined {
  const { type, source, image_url: address } = value;
  if (type === "image" && isObject(source) && isBase64(source["data"])) return "source";
  if (isPicture(isObject(address) ? address["url"] : address)) return "image_url";
  return ["inlineData", "inline_data"].find((name) => {
    const inline = objectIn(value[name]);
    const kind = inline["mimeType"] ?? inline["mime_type"];
    return typeof kind === "string" && kind.startsWith("image/") && isBase64(inline["data"]);
  });
}

function isPicture(value: Json | undefined): boolean {
  if (typeof value !== "string") return false;
  const head = /^data:image\/[a-z0-9.+-]{1,64};base64,/i.exec(value)?.[0];
  return head !== undefined && isBase64(value.slice(head.length));
}

const isBase64 = (value: Json | undefined): boolean =>
  typeof value === "string" && /^[A-Za-z0-9+/_=-]*$/.test(value);

/** The usage in an answer or a piece of its stream; undefined without one. */
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
  // Anthropic counts cached tokens beside the input, the others within it.
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

/** Caps a provider's counts. */
function bounds(usage: RelayUsage): RelayUsage {
  const capped = (n: number): number => Math.min(n, 1e9);
  const { input, output, cacheRead, cacheWrite } = usage;
  return {
    ...{ input: capped(input), output: capped(output) },
    ...{ cacheRead: capped(cacheRead), cacheWrite: capped(cacheWrite) },
  };
}

/** Reads the usage of an answer while it passes. */
export interface UsageReader {
  take(text: string): void;
  /**
   * The usage so far; missing figures are estimated. `unheard`: tokens that may have been computed
   * for an answer that was cut off.
   */
  used(unheard?: number): RelayUsage;
}

/** Characters of a line, and of a document, at most. */
const MAX_LINE = 4 * 1024 * 1024;

/** Makes a reader of a stream or document; `input`: the estimated tokens of the request. */
export function makeUsageReader({ input }: { readonly input: number }): UsageReader {
  let line = "", skipping = false, document = "", events = 0, characters = 0;
  let highest: RelayUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const look = (text: string): void => {
    const tokens = usageIn(parsed(text.replace(/^data:\s*/, "")));
    if (tokens === undefined) return;
    highest = {
      input: Math.max(highest.input, tokens.input),
      output: Math.max(highest.output, tokens.output),
      cacheRead: Math.max(highest.cacheRead, tokens.cacheRead),
      cacheWrite: Math.max(highest.cacheWrite, tokens.cacheWrite),
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
    used(unheard = 0): RelayUsage {
      look(line);
      // Without events the answer was one document.
      if (events === 0) look(document);
      const { output } = highest;
      return {
        ...highest,
        input: highest.input || input,
        // Estimates: a token for each event of a stream, or for each four characters of a document.
        output: output ||
          Math.max(events > 0 ? events : Math.ceil(characters / CHARS_PER_TOKEN), unheard),
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
