/**
 * The prompt of a local model. Chat templates support different features beside plain turns, so tools, calls
 * and results are written into the three roles that every template has, in a form (`<tool_call>`,
 * `<tool_response>`) that many small models were trained on. Used by gguf_model.ts.
 * @module
 */
import type { InferenceRequest } from "../../contracts/model/model.ts";
import { CALL_CLOSE, CALL_OPEN } from "../grammar/mod.ts";
import type { EngineMessage } from "./engine.ts";

const RESULT_OPEN = "<tool_response>";
const RESULT_CLOSE = "</tool_response>";
/** Markers of this format; escaped in untrusted text like control tokens. */
export const OWN_MARKS: readonly string[] = [CALL_OPEN, CALL_CLOSE, RESULT_OPEN, RESULT_CLOSE];

/** The turns for a chat template: at most one system message, then user and assistant alternating. */
export function conversationOf(
  { messages, tools, responseSchema }: Pick<
    InferenceRequest,
    "messages" | "tools" | "responseSchema"
  >,
  plain: (text: string) => string,
): readonly EngineMessage[] {
  const system: string[] = [];
  const turns: { role: "user" | "assistant"; parts: string[] }[] = [];
  const say = (role: "user" | "assistant", text: string): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(text);
    else turns.push({ role, parts: [text] });
  };
  for (const { role, content, toolCalls = [], toolName = "tool" } of messages) {
    switch (role) {
      case "system":
        // Templates support a system message only at the start; later ones keep their place as user text.
        if (turns.length === 0) system.push(plain(content));
        else say("user", `(system) ${plain(content)}`);
        break;
      case "user":
        say("user", plain(content));
        break;
      case "tool":
        say("user", `${RESULT_OPEN}\n${plain(`${toolName}: ${content}`)}\n${RESULT_CLOSE}`);
        break;
      case "assistant":
        say("assistant", said(plain(content), toolCalls.map((call) => callText(call, plain))));
    }
  }
  if (tools.length > 0) system.push(toolWords(tools, plain));
  if (responseSchema !== undefined) {
    system.push(`Answer with JSON that fits this JSON Schema: ${plain(responseSchema)}`);
  }
  // Most templates require a first turn by the user, and an answer must follow a user's turn.
  if (turns[0]?.role !== "user") turns.unshift({ role: "user", parts: ["(begin)"] });
  if (turns.at(-1)?.role === "assistant") turns.push({ role: "user", parts: ["(go on)"] });
  const first: EngineMessage[] = system.length === 0
    ? []
    : [{ role: "system", content: system.join("\n\n") }];
  return [...first, ...turns.map(({ role, parts }) => ({ role, content: parts.join("\n") }))];
}

/** An answer that names more tools discusses them rather than intends a call. */
const MAX_DUE = 2;

/**
 * The tools of which one should have been called by an answer without calls: those that the answer names or,
 * if it names none, those that the person named. None after tool results, which the answer discusses.
 * `first`: all tools, where none is named.
 */
export function dueTools(
  { messages, tools }: Pick<InferenceRequest, "messages" | "tools">,
  answer: string,
  first: boolean,
): InferenceRequest["tools"] {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  if (messages.slice(asked + 1).some(({ role }) => role === "tool")) return [];
  const named = (text: string): InferenceRequest["tools"] =>
    tools.filter(({ name }) => text.includes(name) && namesTool(text, name));
  const answered = named(answer);
  const meant = answered.length > 0 ? answered : named(messages[asked]?.content ?? "");
  if (meant.length > 0 && meant.length <= MAX_DUE) return meant;
  return first && meant.length === 0 ? tools : [];
}

/** A name without an underscore may be a common word, so it must be quoted or called. */
function namesTool(text: string, name: string): boolean {
  const word = RegExp.escape(name);
  const pattern = name.includes("_")
    ? `(?<!\\w)${word}(?!\\w)`
    : `[\`"']${word}[\`"']|(?<!\\w)${word}\\(`;
  return new RegExp(pattern).test(text);
}

function said(content: string, calls: readonly string[]): string {
  return [...(content === "" ? [] : [content]), ...calls].join("\n");
}

function callText(
  call: { readonly name: string; readonly arguments: string },
  plain: (text: string) => string,
): string {
  const name = plain(JSON.stringify(call.name));
  return `${CALL_OPEN}{"name": ${name}, "arguments": ${
    plain(call.arguments || "{}")
  }}${CALL_CLOSE}`;
}

// A compact list of tools: a line each, with arguments as TypeScript types. The grammar enforces the schema;
// the prompt only has to tell the model what is possible.

/** Nested levels of a schema that are shown. */
const MAX_DEPTH = 4;
const MAX_VALUES = 32;

type Fields = Readonly<Record<string, unknown>>;

/** The system text about tools: how to call them, and the list. `plain` escapes markers in descriptions. */
export function toolWords(
  tools: InferenceRequest["tools"],
  plain: (text: string) => string,
): string {
  return [
    "You may call tools. A call is written as",
    `${CALL_OPEN}{"name": "NAME", "arguments": {…}}${CALL_CLOSE}`,
    "and its result comes in <tool_response>. Tools and their arguments:",
    ...tools.map(({ name, description, paramSchema }) =>
      plain(`${name}${typeWords(parsed(paramSchema), MAX_DEPTH)}: ${oneLine(description)}`)
    ),
  ].join("\n");
}

/** A schema as a TypeScript type; `any` where no type expresses it. */
export function typeWords(schema: unknown, depth: number): string {
  if (!isFields(schema)) return "any";
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const { enum: values, type } = schema;
  if (Array.isArray(values)) {
    const shown = values.slice(0, MAX_VALUES).map((value) => JSON.stringify(value));
    return [...shown, ...(values.length > MAX_VALUES ? ["…"] : [])].join("|");
  }
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices) && depth > 0) {
    return choices.map((choice) => typeWords(choice, depth - 1)).join("|");
  }
  if (Array.isArray(type)) {
    return type.map((each) => typeWords({ ...schema, type: each }, depth)).join("|");
  }
  if (type === "object" || isFields(schema["properties"])) return objectWords(schema, depth);
  if (type === "array") {
    const item = depth > 0 ? typeWords(schema["items"], depth - 1) : "any";
    return item.includes("|") ? `(${item})[]` : `${item}[]`;
  }
  return typeof type === "string" ? type : "any";
}

function objectWords(schema: Fields, depth: number): string {
  const { properties, required } = schema;
  if (!isFields(properties) || depth === 0) return "{}";
  const needed: ReadonlySet<unknown> = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(([name, property]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    const about = isFields(property) ? property["description"] : undefined;
    const words = typeof about === "string" && about !== "" ? ` /* ${oneLine(about)} */` : "";
    return `${key}${needed.has(name) ? "" : "?"}: ${typeWords(property, depth - 1)}${words}`;
  });
  return `{${fields.join(", ")}}`;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(schema: string): unknown {
  try {
    return JSON.parse(schema);
  } catch {
    // The grammar compiler refuses this schema by name.
    return undefined;
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
