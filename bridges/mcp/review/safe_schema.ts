/**
 * Rewrites a server's JSON Schema within limits: references are inlined, and only keywords remain
 * that the gate checks without running a stranger's regular expression. Omissions are noted.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { isList, isObject } from "../../../contracts/base/json.ts";
import type { Json, JsonObject } from "../../../contracts/base/mod.ts";
import { parseJson } from "../../../port/mod.ts";
import {
  makeSchemaNotes,
  noteLines,
  type SchemaNotes,
  type WalkLimits,
  walkSchema,
} from "./_schema_walk.ts";

/** A schema that the gate accepts. */
export interface SafeSchema {
  /** JSON text of at most 32,768 bytes. */
  readonly schema: string;
  /** What was left out, a sentence each, with untrusted names inside. */
  readonly notes: readonly string[];
  /** Findings that a reviewer must see, a sentence each. */
  readonly tricks: readonly string[];
}

/** Tried in turn until the schema fits. `repeats`: levels of a recursive reference that are inlined. */
const LIMITS: readonly WalkLimits[] = [
  { depth: 11, schemas: 600, repeats: 1 },
  { depth: 8, schemas: 600, repeats: 0 },
  { depth: 5, schemas: 600, repeats: 0 },
  { depth: 3, schemas: 400, repeats: 0 },
  { depth: 2, schemas: 300, repeats: 0 },
];
/** Within the gate's limits (broker/validators.ts). */
const TEXT = { frameBytes: 32_768, depth: 24, nodes: 1_900 };

/** The schema of a tool's arguments: an object. @throws {Fault} `refused` with the reason */
export function safeSchema(schema: JsonObject): SafeSchema {
  const type = schema["type"];
  if (type !== undefined && type !== "object" && !(isList(type) && type.includes("object"))) {
    throw new Fault("refused", "its arguments are not an object");
  }
  return fitting(schema, asOneObject);
}

/** The schema of a tool's structured result. @throws {Fault} `refused` with the reason */
export function safeResultSchema(schema: JsonObject): SafeSchema {
  return fitting(schema, (walked) => walked);
}

function fitting(
  schema: JsonObject,
  finish: (walked: JsonObject, notes: SchemaNotes) => JsonObject,
): SafeSchema {
  for (const [tried, limits] of LIMITS.entries()) {
    const notes = makeSchemaNotes();
    if (tried > 0) notes.trick("it is too large to be checked whole", "all of it");
    try {
      const text = JSON.stringify(finish(walkSchema(schema, limits, notes), notes) satisfies Json);
      parseJson(text, TEXT);
      return { schema: text, notes: noteLines(notes.loosened), tricks: noteLines(notes.tricks) };
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "tooLarge") throw error;
    }
  }
  throw new Fault("refused", "its schema is too large");
}

const MAX_VARIANTS = 8;

/**
 * Merges a schema's parts and alternatives into one object, since model providers take none at the
 * top level. A property stays required if every alternative requires it.
 */
function asOneObject(schema: JsonObject, notes: SchemaNotes): JsonObject {
  const { allOf, anyOf, oneOf, not, ...plain } = schema;
  if (not !== undefined) notes.loosen('"not" is not checked', "arguments");
  const properties = isObject(schema["properties"]) ? { ...schema["properties"] } : {};
  const needed = new Set(namesOf(schema["required"]));
  const parts = objectsOf(allOf);
  merge(properties, parts, "allOf");
  for (const part of parts) {
    for (const name of namesOf(part["required"])) needed.add(name);
    if (hasMore(part)) notes.loosen('"allOf" is checked in part', "arguments");
  }
  for (const branches of [objectsOf(anyOf), objectsOf(oneOf)]) {
    if (branches.length === 0) continue;
    notes.loosen("its alternatives are not held apart", "arguments");
    merge(properties, branches, "anyOf");
    const [first, ...rest] = branches.map((each) => namesOf(each["required"]));
    for (const name of first ?? []) if (rest.every((each) => each.includes(name))) needed.add(name);
  }
  return {
    ...plain,
    type: "object",
    properties,
    ...(needed.size === 0 ? {} : { required: [...needed] }),
  };
}

/**
 * Adds the schemas' properties. Different schemas of one name become its `allOf` or `anyOf`; with
 * `anyOf`, a property that `properties` has already stays as it is.
 */
function merge(
  properties: Record<string, Json>,
  schemas: readonly JsonObject[],
  keyword: "allOf" | "anyOf",
): void {
  const found = new Map<string, Map<string, Json>>();
  for (const { properties: own } of schemas) {
    for (const [name, value] of Object.entries(isObject(own) ? own : {})) {
      const variants = found.get(name) ?? new Map<string, Json>();
      variants.set(JSON.stringify(value), value);
      found.set(name, variants);
    }
  }
  for (const [name, variants] of found) {
    const present = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (present !== undefined) {
      if (keyword === "anyOf") continue;
      variants.set(JSON.stringify(present), present);
    }
    const all = [...variants.values()];
    const isKept = keyword === "allOf" || all.length <= MAX_VARIANTS;
    const several = isKept ? { [keyword]: all } : {};
    properties[name] = all.length === 1 ? all[0] ?? {} : several;
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
