/** A schema written anew, of the keywords that the gate and every provider take. @module */
import { isList, isObject } from "../../../contracts/json.ts";
import { Fault } from "../../../contracts/fault.ts";
import type { Json, JsonObject } from "../../../contracts/mod.ts";
import { pointedAt } from "./_schema_json.ts";
import type { SchemaNotes } from "./_schema_notes.ts";
import { plainKeywords } from "./_schema_plain.ts";

/** What a walk keeps to. */
export interface WalkLimits {
  /** Levels of schemas within schemas. */
  readonly depth: number;
  /** Schemas, references written out. */
  readonly schemas: number;
  /** How often one reference may stand within itself. */
  readonly repeats: number;
}

/** Names of parameters that every provider takes. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MOST_BRANCHES = 32;
/** Units of a name that none takes, as a reviewer is shown it. */
const SHOWN_NAME = 80;
/** Checks that need a stranger's regular expression, time in the square, or a schema within a condition. */
const DROPPED = [
  "uniqueItems",
  "not",
  "if",
  "dependentSchemas",
  "dependentRequired",
  "dependencies",
  "propertyNames",
  "contains",
  "patternProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
];

interface Place {
  /** As a reviewer reads it: `edits[].text`. */
  readonly at: string;
  readonly name: string;
  readonly depth: number;
  /** References that are being written out, outermost first. */
  readonly within: readonly string[];
}

/** Writes `root` anew. Throws `tooLarge` past `limits.schemas`, `refused` for a parameter that cannot be named. */
export function walkSchema(root: JsonObject, limits: WalkLimits, notes: SchemaNotes): JsonObject {
  let left = limits.schemas;

  const walk = (schema: Json, place: Place): JsonObject => {
    if (--left < 0) throw new Fault("tooLarge", "its schema is too large");
    if (schema === true) return {};
    if (schema === false) return { not: {} };
    if (!isObject(schema)) {
      notes.loosen("what is no schema is not checked", place.at);
      return {};
    }
    return schema["$ref"] === undefined ? written(schema, place) : referred(schema, place);
  };

  const referred = (schema: JsonObject, place: Place): JsonObject => {
    const { $ref: ref, ...beside } = schema;
    const target = pointedAt(root, ref);
    if (typeof ref !== "string" || target === undefined) {
      notes.trick("it refers to what is not part of it", place.at);
      return written(beside, place);
    }
    const repeats = place.within.filter((each) => each === ref).length;
    if (repeats > limits.repeats) {
      notes.loosen("it is recursive, and not checked further inside", place.at);
      return { ...shallow(target, place), ...shallow(beside, place) };
    }
    const there = walk(target, { ...place, within: [...place.within, ref] });
    const here = written(beside, place);
    const both = Object.keys(here).filter((key) => !WORDS.has(key) && Object.hasOwn(there, key));
    if (both.length === 0) return { ...there, ...here };
    return { ...here, allOf: [there, ...(isList(here["allOf"]) ? here["allOf"] : [])] };
  };

  const written = (schema: JsonObject, place: Place): JsonObject => {
    const { at, depth, within } = place;
    if (depth >= limits.depth) {
      if (hasInner(schema)) notes.trick("it is nested deeper than is checked", at);
      return shallow(schema, place);
    }
    const kept = plainKeywords(schema, { ...place, notes });
    const inner = (value: Json, step: string, name = ""): JsonObject =>
      walk(value, { at: `${at}${step}`, name, depth: depth + 1, within });

    for (const key of DROPPED) {
      if (schema[key] === undefined || (key === "uniqueItems" && schema[key] === false)) continue;
      notes.loosen(`"${key}" is not checked`, at);
    }
    if (schema["$dynamicRef"] !== undefined || schema["$recursiveRef"] !== undefined) {
      notes.trick("it refers to what is not part of it", at);
    }
    members(schema, kept, { place, inner });
    elements(schema, kept, inner);
    for (const key of ["anyOf", "oneOf", "allOf"] as const) {
      const branches = schema[key];
      if (branches === undefined) continue;
      if (!isList(branches) || branches.length === 0 || branches.length > MOST_BRANCHES) {
        notes.loosen(`"${key}" with no branch or too many is not checked`, at);
        continue;
      }
      const before = notes.count();
      const all = branches.map((each) => inner(each, ""));
      // Where checks were left out, a value may fit several of the branches.
      if (key !== "oneOf" || notes.count() === before) kept[key] = all;
      else if (kept["anyOf"] === undefined) kept["anyOf"] = all;
      else notes.loosen('"oneOf" is not checked', at);
    }
    return kept;
  };

  const members = (
    schema: JsonObject,
    kept: Record<string, Json>,
    { place: { at }, inner }: {
      readonly place: Place;
      readonly inner: (value: Json, step: string, name?: string) => JsonObject;
    },
  ): void => {
    const { properties, required, additionalProperties, patternProperties } = schema;
    const dot = at === "" ? "" : ".";
    if (isObject(properties)) {
      const named: [string, Json][] = [];
      for (const [name, value] of Object.entries(properties)) {
        if (isNameable(name)) {
          named.push([name, inner(value, `${dot}${name}`, name)]);
        } else {
          const called = JSON.stringify(name.slice(0, SHOWN_NAME));
          notes.loosen("a parameter that models cannot name is left out", `${at}${dot}${called}`);
        }
      }
      kept["properties"] = Object.fromEntries(named);
    }
    if (isList(required)) {
      const names = required.filter((each) => typeof each === "string");
      const odd = names.find((each) => !isNameable(each));
      if (odd !== undefined) {
        throw new Fault("refused", `its parameter ${JSON.stringify(odd)} cannot be named`);
      }
      if (names.length > 0) kept["required"] = [...new Set(names)];
    }
    if (additionalProperties === undefined || patternProperties !== undefined) return;
    kept["additionalProperties"] = typeof additionalProperties === "boolean"
      ? additionalProperties
      : inner(additionalProperties, `${dot}*`);
  };
  return walk(root, { at: "", name: "", depth: 0, within: [] });

  function shallow(schema: Json, { at, name }: Place): JsonObject {
    return isObject(schema) ? plainKeywords(schema, { at, name, notes }) : {};
  }
}

/** Lists: tuples of either dialect are written as `prefixItems`. */
function elements(
  { items, prefixItems, additionalItems }: JsonObject,
  kept: Record<string, Json>,
  inner: (value: Json, step: string) => JsonObject,
): void {
  const tuple = isList(items) ? items : isList(prefixItems) ? prefixItems : [];
  if (tuple.length > 0) kept["prefixItems"] = tuple.map((each, n) => inner(each, `[${n}]`));
  const rest = isList(items) ? additionalItems : items;
  if (rest !== undefined) kept["items"] = inner(rest, "[]");
}

function isNameable(name: string): boolean {
  return NAME.test(name) && name !== "__proto__";
}

const WORDS: ReadonlySet<string> = new Set(["description", "default", "examples"]);

function hasInner(schema: JsonObject): boolean {
  return ["properties", "items", "anyOf", "oneOf", "allOf", "additionalProperties", "prefixItems"]
    .some((key) => typeof schema[key] === "object");
}
