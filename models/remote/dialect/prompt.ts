/**
 * Describes tools in the prompt, for a model that answers in a dialect because its server or template
 * supports no tools. Used by models/remote/dialect_of.ts and models/remote/ollama/open.ts.
 * @module
 */
import type { JsonObject } from "../../../contracts/base/json.ts";
import type { Dialect } from "../../../contracts/model/model_config.ts";

/** The form of calls in prompts; `hermes` if a model supports both. */
export type CallDialect = Exclude<Dialect, "bare" | "think" | "thinking">;

/** A tool in the prompt. */
export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the argument object. */
  readonly schema: JsonObject;
}

/** The form of calls to ask for; undefined for a dialect without calls. */
export function callDialect(names: readonly Dialect[]): CallDialect | undefined {
  if (names.includes("hermes")) return "hermes";
  return names.includes("fenced") ? "fenced" : undefined;
}

/** The prompt's part about tools; empty without tools. */
export function toolsPrompt(tools: readonly PromptTool[], dialect: CallDialect): string {
  if (tools.length === 0) return "";
  const lines = tools.map(({ name, description, schema }) =>
    JSON.stringify({ name, description, parameters: schema })
  );
  const shape = callText({ name: "TOOL_NAME", arguments: '{"PARAMETER": "VALUE"}' }, dialect);
  return [
    "You can call tools. These are all there are, one JSON object a line:",
    "<tools>",
    ...lines,
    "</tools>",
    "To call a tool, write exactly this, with its name and with arguments that fit its parameters, and then stop:",
    shape,
    "You are then given the result. Call no tool when you can answer without one.",
  ].join("\n");
}

/** A call in the form in which the model writes it. `arguments` is JSON text. */
export function callText(
  call: { readonly name: string; readonly arguments: string },
  dialect: CallDialect,
): string {
  const json = `{"name": ${JSON.stringify(call.name)}, "arguments": ${call.arguments}}`;
  return dialect === "hermes"
    ? `<tool_call>\n${json}\n</tool_call>`
    : `\`\`\`tool_call\n${json}\n\`\`\``;
}

/** The result of a call, for a user message. */
export function resultText(
  { name, result }: { readonly name: string; readonly result: string },
  dialect: CallDialect,
): string {
  return dialect === "hermes"
    ? `<tool_response>\n${result}\n</tool_response>`
    : `Result of ${name}:\n${result}`;
}
