/**
 * Tools in few tokens: a line each, with arguments as TypeScript writes types. The grammar holds the
 * model to the schema; here it only has to know what there is to say.
 * @module
 */
import type { InferenceRequest } from "../../contracts/model.ts";
import { CALL_CLOSE, CALL_OPEN } from "../grammar/mod.ts";

/** Levels of a schema that are shown. */
const DEPTH = 4;
const MOST_VALUES = 32;

type Fields = Readonly<Record<string, unknown>>;

/** What a model that may call is told: how, and with what; `plain` takes marks out of tools' words. */
export function toolWords(
  tools: InferenceRequest["tools"],
  plain: (text: string) => string,
): string {
  return [
    "You may call tools. A call is written as",
    `${CALL_OPEN}{"name": "NAME", "arguments": {…}}${CALL_CLOSE}`,
    "and its result comes in <tool_response>. Tools and their arguments:",
    ...tools.map(({ name, description, paramSchema }) =>
      plain(`${name}${typeWords(parsed(paramSchema), DEPTH)}: ${oneLine(description)}`)
    ),
  ].join("\n");
}

/** A type for a schema; `any` where it says nothing that fits into one. */
export function typeWords(schema: unknown, depth: number): string {
  if (!isFields(schema)) return "any";
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const { enum: values, type } = schema;
  if (Array.isArray(values)) {
    const shown = values.slice(0, MOST_VALUES).map((value) => JSON.stringify(value));
    return [...shown, ...(values.length > MOST_VALUES ? ["…"] : [])].join("|");
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
    // The grammar refuses it by name.
    return undefined;
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
