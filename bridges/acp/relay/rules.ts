/**
 * The requests that a foreign agent may send to its provider: inference alone. Anything that makes
 * the provider fetch, run, keep or send something is refused, since it would lead out of the
 * agent's walls. Used by relay_powers.ts and usage.ts.
 * @module
 */
import { isList, isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type { ProviderWire } from "../../../contracts/tool/foreign_agent.ts";

/** The verdict about a request. */
export type Judged =
  | { readonly kind: "pass"; readonly path: string }
  | { readonly kind: "refused"; readonly why: string };

/** A request that the relay received. */
export interface AskedOf {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** Undefined for a missing body, or one that is no JSON. */
  readonly body: Json | undefined;
}

interface WireRules {
  readonly posts: readonly RegExp[];
  readonly gets: readonly RegExp[];
  /** Query parameters that pass; a key is dropped, any other is refused. */
  readonly query: ReadonlySet<string>;
  /** Members of a body that make a provider act or remember. */
  readonly members: ReadonlySet<string>;
  /** Whether a tool may pass. */
  tool(tool: JsonObject): boolean;
}

/** Anthropic's tools that the client runs; the provider only knows their shape. */
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

/** Members refused anywhere: content by address, or from a provider's store. */
const REMOTE_CONTENT = new Set([
  "file_id",
  "file_url",
  "file_uri",
  "fileUri",
  "fileData",
  "file_data_id",
]);
/** Members that hold an address of content, unless they hold the content itself (`data:`). */
const ADDRESSES = new Set(["url", "image_url"]);
/** Nesting of a body; a deeper one is refused. */
const MAX_DEPTH = 64;
/** Characters of a target, at most. */
const MAX_TARGET = 2_048;

const refused = (why: string): Judged => ({ kind: "refused", why });

/** Decides whether a request may pass. */
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
  // The agent's key in the query is dropped: the relay puts the right one into a header.
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

/** Members that limit an answer, by wire and path; the first is written where none is set. */
export function boundsOf(wire: ProviderWire, path: string): readonly string[] {
  if (wire === "anthropic") return ["max_tokens"];
  if (wire === "gemini") return ["maxOutputTokens"];
  return path.endsWith("/chat/completions")
    ? ["max_completion_tokens", "max_tokens"]
    : ["max_output_tokens"];
}

/** All members by which any wire limits an answer. */
const BOUND_NAMES = [
  ...["max_tokens", "max_output_tokens", "max_completion_tokens", "maxOutputTokens"],
  "max_tokens_to_sample",
];
/** Members that request several answers. */
const ANSWER_COUNTS = ["n", "best_of", "candidateCount", "candidate_count"];

/** Why a request could cost more than its limit and its model's price; undefined when it cannot. */
function spendFault(wire: ProviderWire, path: string, body: JsonObject): string | undefined {
  // The limits below are read from one spelling; the other would hide limits.
  if (isSet(body["generation_config"])) return '"generation_config" is spelled "generationConfig"';
  const config = body["generationConfig"];
  for (const part of [body, ...(isObject(config) ? [config] : [])]) {
    const several = ANSWER_COUNTS.find((name) => isSet(part[name]) && part[name] !== 1);
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

/** Whether a value is a positive count of tokens. */
export const isCount = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0;

/** Whether a member has a value: not null, not an empty list. */
export function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null && !(isList(value) && value.length === 0);
}

function nameOf(tool: Json): string {
  if (tool === null || typeof tool !== "object" || isList(tool)) return "no object";
  const { type } = tool;
  return (typeof type === "string" ? type : Object.keys(tool).join(", ")).slice(0, 64);
}

/** Members that hold a tool's arguments or schema: no provider acts on their content. */
const TOOL_WORDS = new Set([
  "input_schema",
  "parameters",
  "arguments",
  "args",
  "input",
  "parametersJsonSchema",
]);

/** Whether a member holds tool arguments or schemas; the list "input" of a response holds content instead. */
export const isWords = (name: string, value: Json): boolean =>
  TOOL_WORDS.has(name) && !(name === "input" && isList(value));

/** Why a body refers to remote or stored content; undefined when it does not. */
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
    if (!quoted && REMOTE_CONTENT.has(name) && isSet(inner)) {
      return `"${name}" names a file elsewhere`;
    }
    const address = typeof inner === "string" && !inner.startsWith("data:");
    if (!quoted && ADDRESSES.has(name) && address) return `"${name}" is an address to fetch`;
    const words = quoted || isWords(name, inner) || (call && name === "functionCall");
    const why = elsewhere(inner, depth + 1, words);
    if (why !== undefined) return why;
  }
  return undefined;
}
