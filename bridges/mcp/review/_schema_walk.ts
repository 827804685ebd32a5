/** Rewrites a schema with the keywords that the gate and every provider accept. Used by safe_schema.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { isList, isObject } from "../../../contracts/base/json.ts";
import type { Json, JsonObject } from "../../../contracts/base/mod.ts";
import { cleanText } from "./clean_text.ts";

/** Limits of a rewritten schema. */
export interface WalkLimits {
  /** Nesting of schemas. */
  readonly depth: number;
  /** Schemas in total, with references inlined. */
  readonly schemas: number;
  /** Levels of a recursive reference that are inlined. */
  readonly repeats: number;
}

/** Names of parameters that every provider accepts. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MAX_BRANCHES = 32;
/** Units of an unusable name that a reviewer sees. */
const MAX_SHOWN_NAME = 80;
/** Keywords that need a stranger's regular expression, quadratic time, or a conditional schema. */
const DROPPED =
  ("uniqueItems not if dependentSchemas dependentRequired dependencies propertyNames contains " +
    "patternProperties unevaluatedProperties unevaluatedItems").split(" ");

interface Place {
  /** The path for a reviewer: `edits[].text`. */
  readonly at: string;
  readonly name: string;
  readonly depth: number;
  /** References that are being inlined, outermost first. */
  readonly within: readonly string[];
}

/** Rewrites `root`. Throws `tooLarge` past `limits.schemas`, `refused` for a required parameter with an unusable name. */
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
    return schema["$ref"] === undefined ? rewritten(schema, place) : inlined(schema, place);
  };

  const inlined = (schema: JsonObject, place: Place): JsonObject => {
    const { $ref: ref, ...beside } = schema;
    const target = pointedAt(root, ref);
    if (typeof ref !== "string" || target === undefined) {
      notes.trick("it refers to what is not part of it", place.at);
      return rewritten(beside, place);
    }
    const repeats = place.within.filter((each) => each === ref).length;
    if (repeats > limits.repeats) {
      notes.loosen("it is recursive, and not checked further inside", place.at);
      return { ...shallow(target, place), ...shallow(beside, place) };
    }
    const there = walk(target, { ...place, within: [...place.within, ref] });
    const here = rewritten(beside, place);
    const both = Object.keys(here).filter((key) => !WORDS.has(key) && Object.hasOwn(there, key));
    if (both.length === 0) return { ...there, ...here };
    return { ...here, allOf: [there, ...(isList(here["allOf"]) ? here["allOf"] : [])] };
  };

  const rewritten = (schema: JsonObject, place: Place): JsonObject => {
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
      if (!isList(branches) || branches.length === 0 || branches.length > MAX_BRANCHES) {
        notes.loosen(`"${key}" with no branch or too many is not checked`, at);
        continue;
      }
      const before = notes.count();
      const all = branches.map((each) => inner(each, ""));
      // With checks left out, a value may match several branches: "oneOf" becomes "anyOf".
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
          const called = JSON.stringify(name.slice(0, MAX_SHOWN_NAME));
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

/** Array keywords: tuples of either dialect become `prefixItems`. */
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

const TYPES: ReadonlySet<Json> = new Set(
  ["string", "number", "integer", "boolean", "object", "array", "null"],
);
const NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const COUNTS = "minLength maxLength minItems maxItems minProperties maxProperties".split(" ");
/** Formats that a model is told about in place of a check; others could be a message to the model. */
const FORMATS: ReadonlySet<Json> = new Set(
  ("date-time date time duration email hostname ipv4 ipv6 uri uri-reference url uuid regex " +
    "json-pointer int32 int64 float double byte binary password iri").split(" "),
);
const MAX_WORDS = 1_024;
const MAX_PATTERN = 120;
const MAX_VALUE = 256;
const MAX_CHOICES = 500;
const MAX_CHOICES_TEXT = 8_192;
const MAX_EXAMPLES = 3;

/** The keywords of `schema` that hold no schemas, checked; the schema stands at `at` as `name`. */
function plainKeywords(
  schema: JsonObject,
  { at, name, notes }: { readonly at: string; readonly name: string; readonly notes: SchemaNotes },
): Record<string, Json> {
  const kept: Record<string, Json> = {};
  const type = typeOf(schema);
  if (type !== undefined) kept["type"] = type;
  else if (schema["type"] !== undefined) notes.loosen("an unknown type is not checked", at);
  const words = wordsOf(schema, name);
  if (words !== "") kept["description"] = words;
  for (const key of NUMBERS) {
    const value = schema[key];
    if (value === undefined) continue;
    const isRight = typeof value === "number" && Number.isFinite(value) &&
      (key !== "multipleOf" || value > 0);
    if (isRight) kept[key] = value;
    else notes.loosen(`"${key}" is not checked`, at);
  }
  for (const key of COUNTS) {
    const value = schema[key];
    if (value === undefined) continue;
    if (Number.isSafeInteger(value) && Number(value) >= 0) kept[key] = value;
    else notes.loosen(`"${key}" is not checked`, at);
  }
  if (schema["enum"] !== undefined) {
    const choices = choicesOf(schema["enum"]);
    if (choices !== undefined) kept["enum"] = choices;
    else notes.loosen("a list of choices that is empty, too long or not readable is not held", at);
  }
  const fixed = schema["const"];
  if (fixed !== undefined) {
    if (isPlain(fixed, MAX_VALUE)) kept["const"] = fixed;
    else notes.loosen("a fixed value that is too long or not readable is not held", at);
  }
  const usual = schema["default"];
  if (usual !== undefined && isPlain(usual, MAX_VALUE)) kept["default"] = usual;
  const { examples } = schema;
  if (isList(examples)) {
    const shown = examples.slice(0, MAX_EXAMPLES).filter((each) => isPlain(each, MAX_VALUE));
    if (shown.length > 0) kept["examples"] = shown;
  }
  for (const key of ["pattern", "format"]) {
    if (schema[key] !== undefined) notes.loosen(`"${key}" is told, not checked`, at);
  }
  return kept;
}

function typeOf({ type, nullable }: JsonObject): Json | undefined {
  const types = isList(type) ? type : type === undefined ? [] : [type];
  const known = [...new Set(types)].filter((each) => TYPES.has(each));
  if (known.length === 0 || known.length !== new Set(types).size) return undefined;
  const all = nullable === true && !known.includes("null") ? [...known, "null"] : known;
  return all.length === 1 ? all[0] : all;
}

/** The description, else a title that says more than the name, with format and pattern in words. */
function wordsOf({ description, title, format, pattern }: JsonObject, name: string): string {
  const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const own = [description, title].map((each) => typeof each === "string" ? each : "")
    .map((each) => cleanText(each, MAX_WORDS).text.trim())
    .find((each, n) => each !== "" && (n === 0 || letters(each) !== letters(name)));
  const parts = own === undefined ? [] : [own];
  if (format !== undefined && FORMATS.has(format)) parts.push(`(format: ${format})`);
  if (typeof pattern === "string" && /^[\x20-\x7e]+$/.test(pattern)) {
    if (pattern.length <= MAX_PATTERN) parts.push(`(pattern: ${pattern})`);
  }
  return parts.join(" ");
}

function choicesOf(choices: Json): readonly Json[] | undefined {
  if (!isList(choices) || choices.length === 0 || choices.length > MAX_CHOICES) return undefined;
  if (!choices.every((each) => isPlain(each, MAX_VALUE))) return undefined;
  const distinct = new Map(choices.map((each) => [JSON.stringify(each), each]));
  const size = [...distinct.keys()].reduce((sum, each) => sum + each.length, 0);
  return size > MAX_CHOICES_TEXT ? undefined : [...distinct.values()];
}

/** Whether a model may see a value as it is: short, nearly flat, without invisible characters. */
function isPlain(value: Json, max: number, depth = 3): boolean {
  if (typeof value === "string") {
    return value.length <= max && cleanText(value, Infinity).text === value;
  }
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0 || JSON.stringify(value).length > max) return false;
  return Object.entries(value).every(([key, item]) =>
    isPlain(key, max) && key !== "__proto__" && isPlain(item, max, depth - 1)
  );
}

/** The target of a local reference (`#`, `#/$defs/a`); undefined for any other. */
function pointedAt(root: Json, ref: Json | undefined): Json | undefined {
  if (typeof ref !== "string" || ref.length > 512 || !/^#(?:\/|$)/.test(ref)) return undefined;
  let at: Json | undefined = root;
  for (const part of ref.split("/").slice(1)) {
    const key = unescaped(part);
    if (isList(at)) at = /^[0-9]{1,4}$/.test(key) ? at[Number(key)] : undefined;
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function unescaped(part: string): string {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    // A percent sign outside an escape is literal.
    return plain;
  }
}

/** What was left out of a schema, by reason. */
export interface SchemaNotes {
  /** Notes a check that was left out: more values pass than the server accepts. */
  loosen(what: string, at: string): void;
  /** Notes a finding that a reviewer must see. */
  trick(what: string, at: string): void;
  /** The number of notes so far. */
  count(): number;
  readonly loosened: ReadonlyMap<string, readonly string[]>;
  readonly tricks: ReadonlyMap<string, readonly string[]>;
}

const MAX_SHOWN_PLACES = 4;

/** Makes notes, empty at first. */
export function makeSchemaNotes(): SchemaNotes {
  const loosened = new Map<string, string[]>(), tricks = new Map<string, string[]>();
  let count = 0;
  const add = (to: Map<string, string[]>, what: string, at: string): void => {
    count += 1;
    const places = to.get(what) ?? [];
    if (places.length < 100 && !places.includes(at)) places.push(at);
    to.set(what, places);
  };
  return Object.freeze({
    loosen: (what: string, at: string) => add(loosened, what, at),
    trick: (what: string, at: string) => add(tricks, what, at),
    count: () => count,
    loosened,
    tricks,
  });
}

/** A sentence for each reason: `"pattern" is not checked: path, edits[].text and 3 more`. */
export function noteLines(notes: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...notes].map(([what, places]) => {
    const more = places.length - MAX_SHOWN_PLACES;
    const shown = places.slice(0, MAX_SHOWN_PLACES).join(", ");
    return `${what}: ${shown}${more > 0 ? ` and ${more} more` : ""}`;
  });
}
