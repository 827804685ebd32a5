/** Refuses what Ollama refuses, and also what Ollama would silently ignore. @module */
import type { OllamaModel } from "./ollama.ts";
import { asFields, asList, type Fields } from "./provider.ts";
import type { Failed } from "./script.ts";

const KNOWN: ReadonlySet<string> = new Set(
  "model messages stream format keep_alive tools options think truncate shift logprobs top_logprobs"
    .split(" "),
);
const OPTIONS: ReadonlySet<string> = new Set(
  ("num_keep seed num_predict top_k top_p min_p typical_p repeat_last_n temperature repeat_penalty " +
    "presence_penalty frequency_penalty stop num_ctx num_batch num_gpu main_gpu use_mmap num_thread")
    .split(" "),
);
const MESSAGE: ReadonlySet<string> = new Set(
  "role content thinking images tool_calls tool_name tool_call_id".split(" "),
);

const failed = (error: string, status = 400): Failed => ({ status, body: { error } });

/** Errors that a test adds to the queue. */
export const OLLAMA_ERRORS = Object.freeze({
  /** As servers with `truncate: false` write it: JSON within the text. */
  tooLong: failed(JSON.stringify({
    error: {
      code: 400,
      message:
        "request (8889 tokens) exceeds the available context size (4096 tokens), try increasing it",
      type: "exceed_context_size_error",
      n_prompt_tokens: 8_889,
      n_ctx: 4_096,
    },
  })),
  tooLongPlain: failed("the input length exceeds the context length"),
  noMemory: failed("model requires more system memory (8.4 GiB) than is available (2.1 GiB)", 500),
  busy: failed("server busy, please try again.  maximum pending requests exceeded", 503),
});

/** Why the request is refused; undefined for a valid request. */
export function checkOllama(
  fields: Fields,
  model: OllamaModel | undefined,
  { ids }: { readonly ids: boolean },
): Failed | undefined {
  if (typeof fields.model !== "string" || fields.model === "") return failed("model is required");
  if (model === undefined) return failed(`model '${fields.model}' not found`, 404);
  if (fields.stream === false) return failed("the fixture streams only");
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return failed(`unknown field "${unknown}"`);
  const option = Object.keys(asFields(fields.options) ?? {}).find((name) => !OPTIONS.has(name));
  if (option !== undefined) return failed(`invalid option provided: ${option}`);
  const capabilities = model.capabilities ?? ["completion", "tools"];
  if (asList(fields.tools).length > 0 && !capabilities.includes("tools")) {
    return failed(`registry/library/${fields.model} does not support tools`);
  }
  if (fields.think === true && !capabilities.includes("thinking")) {
    return failed(`"${fields.model}" does not support thinking`);
  }
  const { format } = fields;
  if (format !== undefined && format !== "json" && asFields(format) === undefined) {
    return failed(
      `invalid format: "${String(format)}"; expected "json" or a valid JSON Schema object`,
    );
  }
  const why = wrongTools(asList(fields.tools)) ?? wrongMessages(asList(fields.messages), ids);
  return why === undefined ? undefined : failed(why);
}

function wrongTools(tools: readonly unknown[]): string | undefined {
  for (const tool of tools) {
    const { type, function: given } = asFields(tool) ?? {};
    const { name, parameters } = asFields(given) ?? {};
    if (type !== "function" || typeof name !== "string" || name === "") return "invalid tool";
    if (asFields(parameters)?.type !== "object") {
      return `tool "${name}" has no parameters of type object`;
    }
  }
  return undefined;
}

function wrongMessages(messages: readonly unknown[], ids: boolean): string | undefined {
  if (messages.length === 0) return "messages are required";
  let open = new Map<string, string>();
  for (const [at, value] of messages.entries()) {
    const message = asFields(value) ?? {};
    const { role, content } = message;
    const unknown = Object.keys(message).find((name) => !MESSAGE.has(name));
    if (unknown !== undefined) return `messages[${at}]: unknown field "${unknown}"`;
    if (!["system", "user", "assistant", "tool"].includes(String(role))) {
      return `messages[${at}]: unknown role "${String(role)}"`;
    }
    if (typeof content !== "string") return "json: cannot unmarshal messages.content into a string";
    if (role === "tool") {
      const { tool_name: name, tool_call_id: id } = message;
      if (typeof name !== "string" || name === "") {
        return `messages[${at}]: a tool's message has no tool_name`;
      }
      const call = [...open].find(([key, tool]) =>
        tool === name && (id === undefined || key === id)
      );
      if (call === undefined) return `messages[${at}]: no open call of "${name}"`;
      open.delete(call[0]);
      continue;
    }
    if (open.size > 0) return `messages[${at}]: ${open.size} calls have no result`;
    open = new Map();
    for (const [index, one] of asList(message.tool_calls).entries()) {
      const { id, function: given } = asFields(one) ?? {};
      const { name, arguments: args } = asFields(given) ?? {};
      if (typeof name !== "string" || name === "") return `messages[${at}]: a call has no name`;
      // Other protocols send a string; Go refuses it with this message.
      if (asFields(args) === undefined) {
        return "json: cannot unmarshal string into Go struct field .messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments";
      }
      open.set(typeof id === "string" ? id : `${ids ? "id" : "no"}${index}`, name);
    }
  }
  return open.size > 0 ? `${open.size} calls have no result` : undefined;
}
