/** The form that a server asks a person to fill: a flat object of primitives, nothing else of its schema. @module */
import { isObject, type Json, type JsonObject } from "../../../../contracts/json.ts";

const FIELDS = 64;
const OPTIONS = 256;
/** What a field's schema may say; `pattern` among others is left out. */
const KEPT: readonly string[] = [
  ...["type", "title", "description", "default", "enum", "enumNames", "const", "format"],
  ...["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"],
];

/** The schema made of what may stand in a form; undefined when it is none, or not flat. */
export function formOf(schema: Json | undefined): JsonObject | undefined {
  if (!isObject(schema) || schema["type"] !== "object") return undefined;
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return undefined;
  const entries = Object.entries(properties);
  if (entries.length > FIELDS || !required.every((name) => typeof name === "string")) {
    return undefined;
  }
  const fields = entries.map(([name, field]) => [name, fieldOf(field)] as const);
  if (fields.some(([name, field]) => field === undefined || name.length > 128)) return undefined;
  return {
    type: "object",
    properties: Object.fromEntries(fields) as JsonObject,
    required: required.filter((name) => Object.hasOwn(properties, name)),
    additionalProperties: false,
  };
}

function fieldOf(field: Json): JsonObject | undefined {
  if (!isObject(field)) return undefined;
  const { type } = field;
  if (type === "string" || type === "number" || type === "integer" || type === "boolean") {
    return plain(field);
  }
  if (type !== "array" || !isObject(field["items"])) return undefined;
  const items = plain(field["items"]);
  const chosen = items?.["enum"] !== undefined || items?.["anyOf"] !== undefined;
  const list = plain(field);
  return chosen && items !== undefined && list !== undefined ? { ...list, items } : undefined;
}

/** A primitive's schema, or undefined for one with structure. */
function plain(field: JsonObject): JsonObject | undefined {
  const kept = KEPT.flatMap((name) => {
    const value = Object.hasOwn(field, name) ? field[name] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  if (!kept.every(([, value]) => flat(value))) return undefined;
  const result: Record<string, Json> = Object.fromEntries(kept);
  // Choices with titles: a list of constants.
  for (const name of ["oneOf", "anyOf"]) {
    const choices = field[name];
    if (choices === undefined) continue;
    if (!Array.isArray(choices) || choices.length > OPTIONS) return undefined;
    const read = choices.map((choice) =>
      isObject(choice) && typeof choice["const"] === "string" ? plain(choice) : undefined
    );
    if (read.includes(undefined)) return undefined;
    result[name] = read as JsonObject[];
  }
  return result;
}

function flat(value: Json): boolean {
  if (!Array.isArray(value)) return typeof value !== "object" || value === null;
  return value.length <= OPTIONS && value.every((item) => typeof item !== "object");
}
