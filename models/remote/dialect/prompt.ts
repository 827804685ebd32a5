/**
 * Tools in words: for a model that is told of them in its text, because its server or its template knows
 * none, and that answers in a dialect.
 * @module
 */
import type { JsonObject } from "../../../contracts/base/json.ts";
import type { Dialect } from "../../../contracts/model/model_config.ts";

/** How calls are written; `hermes` where a model may write either. */
export type CallDialect = Exclude<Dialect, "bare" | "think" | "thinking">;

/** A tool that a model is told of. */
export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the argument object. */
  readonly schema: JsonObject;
}

/** The dialect in which calls are asked for; undefined where the names hold none. */
export function callDialect(names: readonly Dialect[]): CallDialect | undefined {
  if (names.includes("hermes")) return "hermes";
  return names.includes("fenced") ? "fenced" : undefined;
}

/** What a model is told of its tools; empty without tools. */
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

/** A call as the model would have written it. `arguments` is JSON text. */
export function callText(
  call: { readonly name: string; readonly arguments: string },
  dialect: CallDialect,
): string {
  const json = `{"name": ${JSON.stringify(call.name)}, "arguments": ${call.arguments}}`;
  return dialect === "hermes"
    ? `<tool_call>\n${json}\n</tool_call>`
    : `\`\`\`tool_call\n${json}\n\`\`\``;
}

/** A call's result, for a message of the user's side. */
export function resultText(
  { name, result }: { readonly name: string; readonly result: string },
  dialect: CallDialect,
): string {
  return dialect === "hermes"
    ? `<tool_response>\n${result}\n</tool_response>`
    : `Result of ${name}:\n${result}`;
}
