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
import { boundsOf, isCount, isSet, isWords } from "./rules.ts";

/** Tokens of an answer where a request bounds none. */
const UNBOUNDED = 32_000;
/** Characters of a token, and tokens of a picture. */
const CHARS = 4, PICTURE = 1_600;

/** What an inference would cost; undefined for a request that is none: models listed, tokens counted. */
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
    maxTokens: boundOf(wire, path, body) ?? UNBOUNDED,
    whole: !isStreamed(path, body),
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
  const asked = boundOf(wire, path, body) ?? UNBOUNDED;
  if (asked <= maxTokens && !silent) return undefined;
  const told = silent
    ? { ...body, stream_options: { ...objectIn(body["stream_options"]), include_usage: true } }
    : body;
  if (asked <= maxTokens) return told;
  const names = boundsOf(wire, path);
  const holder = holderOf(wire, body);
  const there = names.filter((name) => isSet(holder[name]));
  const rewritten = Object.fromEntries(
    (there.length > 0 ? there : names.slice(0, 1)).map((name) => [name, maxTokens]),
  );
  return wire === "gemini"
    ? { ...told, generationConfig: { ...holder, ...rewritten } }
    : { ...told, ...rewritten };
}

/** The most that a request's own bounds would let through: a provider may heed any of them. */
function boundOf(wire: ProviderWire, path: string, body: JsonObject): number | undefined {
  const holder = holderOf(wire, body);
  const found = boundsOf(wire, path).map((name) => holder[name]).filter(isCount);
  return found.length === 0 ? undefined : Math.min(Math.max(...found), 1e9);
}

/** Where a request's bounds stand. */
const holderOf = (wire: ProviderWire, body: JsonObject): JsonObject =>
  wire === "gemini" ? objectIn(body["generationConfig"]) : body;

const objectIn = (value: Json | undefined): JsonObject => isObject(value) ? value : {};

/** Whether an answer comes in pieces, while it is computed. */
function isStreamed(path: string, body: Json | undefined): boolean {
  return path.endsWith(":streamGenerateContent") || (isObject(body) && body["stream"] === true);
}

/** Tokens of all texts in a body, about. `words`: it is what a tool was called with, in which no picture is one. */
function sizeOf(value: Json, { words }: { readonly words: boolean }): number {
  if (typeof value === "string") return value.length / CHARS;
  if (isList(value)) return value.reduce<number>((sum, each) => sum + sizeOf(each, { words }), 0);
  if (!isObject(value)) return 1;
  const picture = words ? undefined : pictureIn(value);
  return Object.entries(value).reduce(
    (sum, [name, each]) =>
      sum + name.length / CHARS +
      (name === picture ? PICTURE : sizeOf(each, { words: words || isWords(name, each) })),
    0,
  );
}

/**
 * The member of an object that is a picture as text: providers count it by its area. A long text is not one for being
 * long, or an agent would hide what it sends in it.
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
  /**
   * What was used, as far as it was heard; what was not told is estimated. `unheard`: tokens that were computed before
   * the first piece came, of an answer that was cut.
   */
  used(unheard?: number): RelayUsage;
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
    used(unheard = 0): RelayUsage {
      look(line);
      // A stream's text is no document.
      if (events === 0) look(document);
      const { output } = most;
      return {
        ...most,
        input: most.input || input,
        // Of a stream about a token an event; of a document about a token every four characters.
        output: output || Math.max(events > 0 ? events : Math.ceil(characters / CHARS), unheard),
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
