/** One tool as whoever calls it must know it: what it does, and what it takes. @module */
import type { EffectClass } from "../../contracts/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { needOf } from "./tool_needs.ts";

/** A tool, of a plugin or Remit's own. Descriptions of added plugins are untrusted text. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly effect: EffectClass;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The plugin that it is of; absent for one of Remit's own without one. */
  readonly plugin?: string;
}

/** The facts, for programs. */
export function toolDocument(tool: ShownTool): Record<string, unknown> {
  const needs = needOf(tool.name);
  return { ...tool, ...(needs === undefined ? {} : { needs }) };
}

/** The facts, as names and values of lines. */
export function toolFields(tool: ShownTool): readonly (readonly [string, readonly string[]])[] {
  const needs = needOf(tool.name);
  const takes = parameterWords(tool.parameters);
  return [
    ["tool", [`${tool.name}, effect ${tool.effect}`]],
    ["of", [tool.plugin === undefined ? "Remit itself" : `plugin ${displayText(tool.plugin)}`]],
    ...(needs === undefined ? [] : [["needs", [needs]] as const]),
    ["says", displayBlock(tool.description.trim(), { prefix: "", columns: 4_000 })],
    ["takes", takes.length === 0 ? ["nothing"] : takes],
  ];
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return value as Readonly<Record<string, unknown>>;
}

/** A line for each argument: name, kind, whether it must be there, its bounds, its description. */
function parameterWords(schema: Readonly<Record<string, unknown>>): readonly string[] {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(record(schema["properties"])).map(([name, each]) => {
    const rule = record(each);
    const { description } = rule;
    const words = [kindOf(rule), ...(required.includes(name) ? ["required"] : []), ...bounds(rule)];
    const told = typeof description === "string" ? `; ${description.replaceAll(/\s+/g, " ")}` : "";
    return displayText(`${name}: ${words.join(", ")}${told}`, { max: 600 });
  });
}

function kindOf(rule: Readonly<Record<string, unknown>>): string {
  const { type, enum: values, anyOf, items } = rule;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" or ");
  if (Array.isArray(anyOf)) return anyOf.map((each) => kindOf(record(each))).join(" or ");
  if (type === "array") return `list of ${kindOf(record(items))}`;
  return [type ?? "any value"].flat().join(" or ");
}

function bounds(rule: Readonly<Record<string, unknown>>): readonly string[] {
  const [least, most] = [rule["minimum"], rule["maximum"]];
  const longest = rule["maxLength"];
  return [
    ...(typeof least === "number" && typeof most === "number" ? [`${least} to ${most}`] : []),
    ...(typeof longest === "number" ? [`at most ${longest} characters`] : []),
  ];
}
