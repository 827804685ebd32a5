/** Refuses what Anthropic's Messages API refuses, with its messages. @module */
import { asFields, asList, type Fields } from "./provider.ts";
import type { Failed } from "./script.ts";
import type { Received } from "./server.ts";

const KNOWN: ReadonlySet<string> = new Set(
  ("model messages max_tokens system stream temperature top_p top_k stop_sequences tools tool_choice metadata " +
    "thinking output_config output_format service_tier container context_management mcp_servers cache_control")
    .split(" "),
);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** An error in Anthropic's form. */
export function anthropicFailed(
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Failed {
  return {
    status,
    headers: { "request-id": "req_fixture", ...headers },
    body: { type: "error", error: { type, message }, request_id: "req_fixture" },
  };
}

/** Errors that a test adds to the queue. */
export const ANTHROPIC_ERRORS = Object.freeze({
  rateLimit: (after: number | string): Failed =>
    anthropicFailed(429, "rate_limit_error", "Number of requests has exceeded your rate limit", {
      "retry-after": String(after),
    }),
  overloaded: anthropicFailed(529, "overloaded_error", "Overloaded"),
  internal: anthropicFailed(500, "api_error", "Internal server error"),
  tooLong: anthropicFailed(
    400,
    "invalid_request_error",
    "prompt is too long: 200041 tokens > 200000 maximum",
  ),
  tooLarge: anthropicFailed(413, "request_too_large", "Request exceeds the maximum size"),
  forbidden: anthropicFailed(
    403,
    "permission_error",
    "Your API key does not have permission to use the specified resource.",
  ),
});

/** The options of the server. */
export interface AnthropicRules {
  readonly key?: string;
  readonly model?: string;
  readonly maxTokens?: number;
  readonly noSampling?: true;
}

/** Why the request is refused; undefined for a valid request. */
export function checkAnthropic(
  fields: Fields,
  { headers }: Received,
  { key = "sk-ant-test", model, maxTokens = 8_192, noSampling }: AnthropicRules,
): Failed | undefined {
  const given = headers["x-api-key"];
  if (given === undefined) {
    return anthropicFailed(401, "authentication_error", "x-api-key header is required");
  }
  if (given !== key) return anthropicFailed(401, "authentication_error", "invalid x-api-key");
  if (model !== undefined && fields.model !== model) {
    return anthropicFailed(404, "not_found_error", `model: ${String(fields.model)}`);
  }
  const why = [
    () =>
      headers["anthropic-version"] === undefined
        ? "anthropic-version: header is required"
        : undefined,
    () => wrongTop(fields, maxTokens),
    () => noSampling === true ? sampled(fields) : undefined,
    () => wrongTools(asList(fields.tools)),
    () => wrongMarks(fields),
    () => wrongMessages(asList(fields.messages), fields.tools !== undefined),
  ].map((check) => check()).find((found) => found !== undefined);
  return why === undefined ? undefined : anthropicFailed(400, "invalid_request_error", why);
}

function wrongTop(fields: Fields, maxTokens: number): string | undefined {
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`;
  if (typeof fields.model !== "string") return "model: Field required";
  const { max_tokens: most, system, temperature } = fields;
  if (most === undefined) return "max_tokens: Field required";
  if (typeof most !== "number" || !Number.isInteger(most)) {
    return "max_tokens: Input should be a valid integer";
  }
  if (most < 1) return "max_tokens: Input should be greater than or equal to 1";
  if (most > maxTokens) {
    return `max_tokens: ${most} > ${maxTokens}, which is the maximum allowed number of output tokens for ${fields.model}`;
  }
  if (fields.stream !== true) return "stream: the fixture streams only";
  if (typeof temperature === "number" && (temperature < 0 || temperature > 1)) {
    return "temperature: range: 0..1";
  }
  for (const stop of asList(fields.stop_sequences)) {
    if (typeof stop !== "string" || stop.trim() === "") {
      return "stop_sequences: each stop sequence must contain non-whitespace";
    }
  }
  if (Array.isArray(system) && system.some((block) => asFields(block)?.text === "")) {
    return "system: text content blocks must be non-empty";
  }
  if (!Array.isArray(fields.messages) || fields.messages.length === 0) {
    return "messages: at least one message is required";
  }
  return undefined;
}

function sampled(fields: Fields): string | undefined {
  const name = ["temperature", "top_p", "top_k"].find((field) => fields[field] !== undefined);
  return name === undefined ? undefined : `${name}: is not supported by this model`;
}

function wrongTools(tools: readonly unknown[]): string | undefined {
  const seen = new Set<unknown>();
  for (const [at, value] of tools.entries()) {
    const tool = asFields(value) ?? {};
    if (typeof tool.name !== "string" || !NAME.test(tool.name)) {
      return `tools.${at}.custom.name: String should match pattern '${NAME.source}'`;
    }
    if (seen.has(tool.name)) return "tools: Tool names must be unique.";
    seen.add(tool.name);
    if (asFields(tool.input_schema)?.type !== "object") {
      return `tools.${at}.custom.input_schema.type: Input should be 'object'`;
    }
    if (
      ["oneOf", "allOf", "anyOf"].some((key) => asFields(tool.input_schema)?.[key] !== undefined)
    ) {
      return `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
    }
    if (keysOf(tool.input_schema).some((key) => !PROPERTY.test(key))) {
      return `tools.${at}.custom.input_schema.properties: Property keys should match pattern '${PROPERTY.source}'`;
    }
  }
  return undefined;
}

/** Names of all properties, at any level. */
function keysOf(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(keysOf);
  const fields = asFields(schema) ?? {};
  return [
    ...Object.keys(asFields(fields.properties) ?? {}),
    ...Object.entries(fields).flatMap(([key, value]) =>
      key === "properties" ? Object.values(asFields(value) ?? {}).flatMap(keysOf) : keysOf(value)
    ),
  ];
}

/** Maximum number of cache breakpoints. */
const MARKS = 4;

function wrongMarks({ system, tools, messages }: Fields): string | undefined {
  const said = asList(messages).flatMap((message) => blocksOf(asFields(message)?.content));
  const all = [...asList(system), ...asList(tools), ...said].map((each) => asFields(each) ?? {});
  const marked = all.filter((block) => block.cache_control !== undefined);
  for (const { type, cache_control } of marked) {
    if (asFields(cache_control)?.type !== "ephemeral") {
      return "cache_control.type: Input should be 'ephemeral'";
    }
    if (type === "thinking" || type === "redacted_thinking") {
      return "cache_control: Extra inputs are not permitted";
    }
  }
  return marked.length <= MARKS ? undefined : "A maximum of 4 blocks with cache_control may be " +
    `provided. Found ${marked.length}.`;
}

/** The blocks of a message; plain text is one block. */
function blocksOf(content: unknown): readonly Fields[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asList(content).map((block) => asFields(block) ?? {});
}

function wrongMessages(messages: readonly unknown[], tooled: boolean): string | undefined {
  const ids = new Set<unknown>();
  let open: readonly unknown[] = [];
  for (const [at, value] of messages.entries()) {
    const { role, content } = asFields(value) ?? {};
    if (role !== "user" && role !== "assistant") {
      return `messages.${at}: Unexpected role "${
        String(role)
      }". The Messages API accepts a top-level \`system\` ` +
        'parameter, not "system" as an input message role.';
    }
    if (at === 0 && role !== "user") return 'messages: first message must use the "user" role';
    const blocks = blocksOf(content);
    const wrong = wrongBlocks(blocks, { at, role, last: at === messages.length - 1, tooled });
    if (wrong !== undefined) return wrong;
    const uses = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    const results = blocks.filter(({ type }) => type === "tool_result").map((block) =>
      block.tool_use_id
    );
    const stray = results.find((id) => !open.includes(id));
    if (stray !== undefined) {
      return `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${
        String(stray)
      }. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    }
    if (new Set(results).size !== results.length) {
      return `messages.${at}: each tool_use must have a single result`;
    }
    const missing = open.filter((id) => !results.includes(id));
    if (missing.length > 0) return unanswered(at - 1, missing);
    if (uses.some((id) => ids.has(id)) || new Set(uses).size !== uses.length) {
      return "messages: `tool_use` ids must be unique";
    }
    for (const id of uses) ids.add(id);
    open = uses;
  }
  return open.length > 0 ? unanswered(messages.length - 1, open) : undefined;
}

function unanswered(at: number, ids: readonly unknown[]): string {
  return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
    `${
      ids.join(", ")
    }. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function wrongBlocks(
  blocks: readonly Fields[],
  { at, role, last, tooled }: {
    readonly at: number;
    readonly role: string;
    readonly last: boolean;
    readonly tooled: boolean;
  },
): string | undefined {
  if (blocks.length === 0 && !(last && role === "assistant")) {
    return `messages.${at}: all messages must have non-empty content except for the optional final assistant message`;
  }
  let other = false;
  for (const [index, { type, text, id, name, input, content }] of blocks.entries()) {
    const where = `messages.${at}.content.${index}`;
    if (type === "text") {
      other = true;
      if (typeof text !== "string" || text === "") {
        return "messages: text content blocks must be non-empty";
      }
      if (text.trim() === "") {
        return "messages: text content blocks must contain non-whitespace text";
      }
      if (last && role === "assistant" && /\s$/.test(text)) {
        return "messages: final assistant content cannot end with trailing whitespace";
      }
    } else if (type === "tool_use") {
      if (role !== "assistant") {
        return `${where}: \`tool_use\` blocks can only be in \`assistant\` messages`;
      }
      if (typeof id !== "string" || !/^[a-zA-Z0-9_-]+$/.test(id)) {
        return `${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
      }
      if (typeof name !== "string" || !NAME.test(name)) {
        return `${where}.tool_use.name: String should match pattern '${NAME.source}'`;
      }
      if (asFields(input) === undefined) {
        return `${where}.tool_use.input: Input should be a valid dictionary`;
      }
      if (!tooled) {
        return "tools: Requests which include `tool_use` or `tool_result` blocks must define tools";
      }
    } else if (type === "tool_result") {
      if (role !== "user") {
        return `${where}: \`tool_result\` blocks can only be in \`user\` messages`;
      }
      if (other) return `${where}: tool_result blocks must come first in a message`;
      if (Array.isArray(content) && content.some((block) => asFields(block)?.text === "")) {
        return "messages: text content blocks must be non-empty";
      }
    } else if (type !== "thinking" && type !== "image" && type !== "redacted_thinking") {
      return `${where}.type: Input tag '${String(type)}' is not known`;
    }
  }
  return undefined;
}
