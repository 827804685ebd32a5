/**
 * What an agent of others may ask of its provider: inference, and nothing that makes the provider fetch, run, keep or
 * send something by itself. A provider is a way out of the walls otherwise.
 * @module
 */
import { isList, isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type { ProviderWire } from "../../../contracts/tool/foreign_agent.ts";

/** A request that may pass, or why it may not. */
export type Judged =
  | { readonly kind: "pass"; readonly path: string }
  | { readonly kind: "refused"; readonly why: string };

/** One request as the relay received it. */
export interface AskedOf {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** Undefined where there is none, or it is no JSON. */
  readonly body: Json | undefined;
}

interface WireRules {
  readonly posts: readonly RegExp[];
  readonly gets: readonly RegExp[];
  /** Query parameters that are passed on; others are refused, a key is dropped. */
  readonly query: ReadonlySet<string>;
  /** Members of a body by which a provider acts or remembers. */
  readonly members: ReadonlySet<string>;
  /** Why a tool may not pass. */
  tool(tool: JsonObject): boolean;
}

/** Tools of Anthropic that the client runs: the provider only knows their shape. */
const OWN_TOOLS = /^(custom|bash_\d{8}|text_editor_\d{8}|memory_\d{8}|computer_\d{8})$/;

const RULES: Readonly<Record<ProviderWire, WireRules>> = {
  anthropic: {
    posts: [/^\/v1\/messages$/, /^\/v1\/messages\/count_tokens$/],
    gets: [/^\/v1\/models(\/[A-Za-z0-9._-]{1,128})?$/],
    query: new Set(["beta", "limit"]),
    members: new Set(["mcp_servers", "container"]),
    tool: ({ type }) => type === undefined || (typeof type === "string" && OWN_TOOLS.test(type)),
  },
  openai: {
    posts: [/^\/v1\/responses$/, /^\/v1\/chat\/completions$/],
    gets: [/^\/v1\/models(\/[A-Za-z0-9._:-]{1,128})?$/],
    query: new Set(["client_version"]),
    members: new Set([
      ...["conversation", "previous_response_id", "prompt", "web_search_options", "audio"],
    ]),
    tool: ({ type }) =>
      type === "function" || type === "custom" || type === "local_shell" || type === "namespace",
  },
  gemini: {
    posts: [
      /^\/v1(beta)?\/models\/[A-Za-z0-9._-]{1,128}:(generateContent|streamGenerateContent|countTokens)$/,
    ],
    gets: [/^\/v1(beta)?\/models$/],
    query: new Set(["alt"]),
    members: new Set(["cachedContent"]),
    tool: (tool) => Object.keys(tool).every((name) => /^function_?[dD]eclarations$/.test(name)),
  },
};

/** Members that are refused wherever they stand: content by address, or by a name in a provider's store. */
const ELSEWHERE = new Set([
  "file_id",
  "file_url",
  "file_uri",
  "fileUri",
  "fileData",
  "file_data_id",
]);
/** Members whose text is an address of content, unless it holds the content itself. */
const ADDRESSES = new Set(["url", "image_url"]);
/** How deep a body is looked at; a deeper one is refused. */
const MAX_DEPTH = 64;
/** Longest target, characters. */
const MAX_TARGET = 2_048;

const refused = (why: string): Judged => ({ kind: "refused", why });

/** Judges one request. */
export function judge(wire: ProviderWire, { method, target, body }: AskedOf): Judged {
  const rules = RULES[wire];
  if (target.length > MAX_TARGET) return refused("its path is too long");
  const cut = target.indexOf("?");
  const path = cut < 0 ? target : target.slice(0, cut);
  const query = new URLSearchParams(cut < 0 ? "" : target.slice(cut + 1));
  const paths = method === "POST" ? rules.posts : method === "GET" ? rules.gets : [];
  if (!paths.some((each) => each.test(path))) {
    return refused(`${method} ${path} is not among the requests that an agent may make`);
  }
  // A key in the query is the agent's own: the right one is put into a header.
  query.delete("key");
  for (const name of query.keys()) {
    if (!rules.query.has(name)) return refused(`the parameter "${name}" is not passed on`);
  }
  const rest = query.toString();
  const passed: Judged = { kind: "pass", path: rest === "" ? path : `${path}?${rest}` };
  if (method === "GET") return passed;
  if (body === null || typeof body !== "object" || isList(body)) {
    return refused("its body is no JSON object");
  }
  const why = bodyFault(rules, body) ?? spendFault(wire, path, body);
  return why === undefined ? passed : refused(why);
}

function bodyFault(rules: WireRules, body: JsonObject): string | undefined {
  for (const name of rules.members) {
    if (isSet(body[name])) return `"${name}" would make the provider act or remember`;
  }
  if (body["store"] === true || body["background"] === true) {
    return "the provider would keep what is asked";
  }
  const tools = body["tools"] ?? [];
  if (!isList(tools)) return '"tools" is no list';
  for (const tool of tools) {
    if (tool === null || typeof tool !== "object" || isList(tool) || !rules.tool(tool)) {
      return `a tool that runs at the provider (${nameOf(tool)})`;
    }
  }
  return elsewhere(body, 0, false);
}

/** Members that bound an answer, by wire and path; the first is written where none is there. */
export function boundsOf(wire: ProviderWire, path: string): readonly string[] {
  if (wire === "anthropic") return ["max_tokens"];
  if (wire === "gemini") return ["maxOutputTokens"];
  return path.endsWith("/chat/completions")
    ? ["max_completion_tokens", "max_tokens"]
    : ["max_output_tokens"];
}

/** Every name by which some wire bounds an answer. */
const BOUND_NAMES = [
  ...["max_tokens", "max_output_tokens", "max_completion_tokens", "maxOutputTokens"],
  "max_tokens_to_sample",
];
/** Members that ask for several answers to one request. */
const TIMES = ["n", "best_of", "candidateCount", "candidate_count"];

/** What would make a request cost more than its bound and its model's price say. */
function spendFault(wire: ProviderWire, path: string, body: JsonObject): string | undefined {
  // Gemini's other spelling would hold what is read by this one alone.
  if (isSet(body["generation_config"])) return '"generation_config" is spelled "generationConfig"';
  const config = body["generationConfig"];
  for (const part of [body, ...(isObject(config) ? [config] : [])]) {
    const several = TIMES.find((name) => isSet(part[name]) && part[name] !== 1);
    if (several !== undefined) return `"${several}" asks for more than one answer`;
    for (const name of ["service_tier", "serviceTier"]) {
      const tier = part[name];
      if (isSet(tier) && tier !== "default" && tier !== "auto") {
        return `"${name}" has another price; "default" and "auto" are passed on`;
      }
    }
    if (isSet(part["speed"])) return '"speed" has another price';
    const read = (wire === "gemini") === (part !== body) ? boundsOf(wire, path) : [];
    for (const name of BOUND_NAMES) {
      if (!isSet(part[name])) continue;
      if (!read.includes(name)) return `"${name}" bounds no answer of this request`;
      if (!isCount(part[name])) return `"${name}" is no count of tokens`;
    }
  }
  return undefined;
}

/** Whether a value bounds an answer. */
export const isCount = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0;

/** Whether a member is there, and says something. */
export function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null && !(isList(value) && value.length === 0);
}

function nameOf(tool: Json): string {
  if (tool === null || typeof tool !== "object" || isList(tool)) return "no object";
  const { type } = tool;
  return (typeof type === "string" ? type : Object.keys(tool).join(", ")).slice(0, 64);
}

/** What a tool was called with, and what its input may be, are the agent's own words: no provider acts on them. */
const WORDS = new Set([
  "input_schema",
  "parameters",
  "arguments",
  "args",
  "input",
  "parametersJsonSchema",
]);

/** Whether a member holds an agent's own words: the list "input" of a response holds content, the object of a call not. */
export const isWords = (name: string, value: Json): boolean =>
  WORDS.has(name) && !(name === "input" && isList(value));

/** Content that the provider would fetch from elsewhere, or from its own store. */
function elsewhere(value: Json, depth: number, quoted: boolean): string | undefined {
  if (depth > MAX_DEPTH) return "its body is too deep";
  if (value === null || typeof value !== "object") return undefined;
  if (isList(value)) {
    for (const item of value) {
      const why = elsewhere(item, depth + 1, quoted);
      if (why !== undefined) return why;
    }
    return undefined;
  }
  const { type } = value;
  const call = type === "tool_use" || "functionCall" in value || type === "function";
  if (type === "item_reference") return "an item of the provider's store";
  for (const [name, inner] of Object.entries(value)) {
    if (!quoted && ELSEWHERE.has(name) && isSet(inner)) return `"${name}" names a file elsewhere`;
    const address = typeof inner === "string" && !inner.startsWith("data:");
    if (!quoted && ADDRESSES.has(name) && address) return `"${name}" is an address to fetch`;
    const words = quoted || isWords(name, inner) || (call && name === "functionCall");
    const why = elsewhere(inner, depth + 1, words);
    if (why !== undefined) return why;
  }
  return undefined;
}
