/** A schema written anew, of the keywords that the gate and every provider take. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { isList, isObject } from "../../../contracts/base/json.ts";
import type { Json, JsonObject } from "../../../contracts/base/mod.ts";
import { cleanText } from "./clean_text.ts";

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
const MAX_BRANCHES = 32;
/** Units of a name that none takes, as a reviewer is shown it. */
const SHOWN_NAME = 80;
/** Checks that need a stranger's regular expression, time in the square, or a schema within a condition. */
const DROPPED =
  ("uniqueItems not if dependentSchemas dependentRequired dependencies propertyNames contains " +
    "patternProperties unevaluatedProperties unevaluatedItems").split(" ");

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
      if (!isList(branches) || branches.length === 0 || branches.length > MAX_BRANCHES) {
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

// Keywords whose value holds no further schema.

const TYPES: ReadonlySet<Json> = new Set(
  ["string", "number", "integer", "boolean", "object", "array", "null"],
);
const NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const COUNTS = "minLength maxLength minItems maxItems minProperties maxProperties".split(" ");
/** Words for a model in place of a check: nothing that a server made up. */
const FORMATS: ReadonlySet<Json> = new Set(
  ("date-time date time duration email hostname ipv4 ipv6 uri uri-reference url uuid regex " +
    "json-pointer int32 int64 float double byte binary password iri").split(" "),
);
const LONGEST_WORDS = 1_024;
const LONGEST_PATTERN = 120;
const LONGEST_VALUE = 256;
const MAX_CHOICES = 500;
const LONGEST_CHOICES = 8_192;
const MAX_EXAMPLES = 3;

/** What may be kept of the plain keywords of `schema`, which stands at `at` under the name `name`. */
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
    if (isPlain(fixed, LONGEST_VALUE)) kept["const"] = fixed;
    else notes.loosen("a fixed value that is too long or not readable is not held", at);
  }
  const usual = schema["default"];
  if (usual !== undefined && isPlain(usual, LONGEST_VALUE)) kept["default"] = usual;
  const { examples } = schema;
  if (isList(examples)) {
    const shown = examples.slice(0, MAX_EXAMPLES).filter((each) => isPlain(each, LONGEST_VALUE));
    if (shown.length > 0) kept["examples"] = shown;
  }
  for (const key of ["pattern", "format"]) {
    if (schema[key] !== undefined) notes.loosen(`"${key}" is told, not checked`, at);
  }
  return kept;
}

function typeOf({ type, nullable }: JsonObject): Json | undefined {
  const said = isList(type) ? type : type === undefined ? [] : [type];
  const known = [...new Set(said)].filter((each) => TYPES.has(each));
  if (known.length === 0 || known.length !== new Set(said).size) return undefined;
  const all = nullable === true && !known.includes("null") ? [...known, "null"] : known;
  return all.length === 1 ? all[0] : all;
}

/** Its description, else its title where that says more than the name; and what is told in place of checks. */
function wordsOf({ description, title, format, pattern }: JsonObject, name: string): string {
  const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const said = [description, title].map((each) => typeof each === "string" ? each : "")
    .map((each) => cleanText(each, LONGEST_WORDS).text.trim())
    .find((each, n) => each !== "" && (n === 0 || letters(each) !== letters(name)));
  const parts = said === undefined ? [] : [said];
  if (format !== undefined && FORMATS.has(format)) parts.push(`(format: ${format})`);
  if (typeof pattern === "string" && /^[\x20-\x7e]+$/.test(pattern)) {
    if (pattern.length <= LONGEST_PATTERN) parts.push(`(pattern: ${pattern})`);
  }
  return parts.join(" ");
}

function choicesOf(choices: Json): readonly Json[] | undefined {
  if (!isList(choices) || choices.length === 0 || choices.length > MAX_CHOICES) return undefined;
  if (!choices.every((each) => isPlain(each, LONGEST_VALUE))) return undefined;
  const distinct = new Map(choices.map((each) => [JSON.stringify(each), each]));
  const size = [...distinct.keys()].reduce((sum, each) => sum + each.length, 0);
  return size > LONGEST_CHOICES ? undefined : [...distinct.values()];
}

/** Whether a value may be shown to a model as it is: short, flat enough, nothing unseen in its texts. */
function isPlain(value: Json, most: number, depth = 3): boolean {
  if (typeof value === "string") {
    return value.length <= most && cleanText(value, Infinity).text === value;
  }
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0 || JSON.stringify(value).length > most) return false;
  return Object.entries(value).every(([key, item]) =>
    isPlain(key, most) && key !== "__proto__" && isPlain(item, most, depth - 1)
  );
}

/** What a local reference (`#`, `#/$defs/a`) names; undefined for one that leads elsewhere or nowhere. */
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
    // A stray percent sign stands for itself.
    return plain;
  }
}

/** Collects what was left out, by reason. */
export interface SchemaNotes {
  /** A check was left out at this place: more passes than the server takes. */
  loosen(what: string, at: string): void;
  /** An ordinary schema holds no such thing. */
  trick(what: string, at: string): void;
  /** How often something was left out so far. */
  count(): number;
  readonly loosened: ReadonlyMap<string, readonly string[]>;
  readonly tricks: ReadonlyMap<string, readonly string[]>;
}

const SHOWN = 4;

/** Makes an empty collection. */
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

/** One sentence for each reason: `"pattern" is not checked: path, edits[].text and 3 more`. */
export function noteLines(notes: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...notes].map(([what, places]) => {
    const more = places.length - SHOWN;
    const shown = places.slice(0, SHOWN).join(", ");
    return `${what}: ${shown}${more > 0 ? ` and ${more} more` : ""}`;
  });
}
