/** The arguments of a tool as one object: providers take no alternatives at the top. @module */
import { isList, isObject } from "../../../contracts/json.ts";
import type { Json, JsonObject } from "../../../contracts/mod.ts";
import type { SchemaNotes } from "./_schema_notes.ts";

const MOST_VARIANTS = 8;

/** Writes the alternatives of a walked schema into its properties; what is needed in each stays needed. */
export function asOneObject(schema: JsonObject, notes: SchemaNotes): JsonObject {
  const { allOf, anyOf, oneOf, not, ...plain } = schema;
  if (not !== undefined) notes.loosen('"not" is not checked', "arguments");
  const properties = isObject(schema["properties"]) ? { ...schema["properties"] } : {};
  const needed = new Set(namesOf(schema["required"]));
  for (const part of objectsOf(allOf)) {
    merge(properties, [part]);
    for (const name of namesOf(part["required"])) needed.add(name);
    if (hasMore(part)) notes.loosen('"allOf" is checked in part', "arguments");
  }
  for (const branches of [objectsOf(anyOf), objectsOf(oneOf)]) {
    if (branches.length === 0) continue;
    notes.loosen("its alternatives are not held apart", "arguments");
    merge(properties, branches);
    const [first, ...rest] = branches.map((each) => new Set(namesOf(each["required"])));
    for (const name of first ?? []) if (rest.every((each) => each.has(name))) needed.add(name);
  }
  return {
    ...plain,
    type: "object",
    properties,
    ...(needed.size === 0 ? {} : { required: [...needed] }),
  };
}

/** Adds the properties of all branches to those that there are; several of one name are alternatives. */
function merge(properties: Record<string, Json>, branches: readonly JsonObject[]): void {
  const found = new Map<string, Map<string, Json>>();
  for (const branch of branches) {
    for (
      const [name, value] of Object.entries(
        isObject(branch["properties"]) ? branch["properties"] : {},
      )
    ) {
      const variants = found.get(name) ?? new Map<string, Json>();
      variants.set(JSON.stringify(value), value);
      found.set(name, variants);
    }
  }
  for (const [name, variants] of found) {
    if (Object.hasOwn(properties, name)) continue;
    const [only, ...more] = variants.values();
    const all = [...variants.values()];
    properties[name] = only !== undefined && more.length === 0
      ? only
      : all.length <= MOST_VARIANTS
      ? { anyOf: all }
      : {};
  }
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

function namesOf(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter((each) => typeof each === "string") : [];
}

function hasMore(part: JsonObject): boolean {
  const known = ["type", "description", "properties", "required", "default", "examples"];
  return Object.keys(part).some((key) => !known.includes(key));
}
