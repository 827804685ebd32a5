/** Parses one level of a JSON Schema for the grammar compiler; merge.ts follows `$ref` and `allOf`. @module */
import { isList, isObject, type Json, type JsonObject } from "../../contracts/base/json.ts";
import {
  ALL_KINDS,
  asSchema,
  type Choice,
  type Flat,
  type Kind,
  type Limit,
  type Schema,
  wrong,
} from "./schema.ts";

/** Keywords that do not constrain a value. */
const PLAIN = new Set(
  ("title description default examples deprecated readOnly writeOnly $comment $schema $id $anchor " +
    "$defs definitions $ref allOf id").split(" "),
);
/** Keywords parsed here, and those without effect alone: `minContains`, `maxContains` (`contains` is reported as ignored). */
const READ = new Set(
  ("type enum const not minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength " +
    "maxLength minItems maxItems prefixItems items additionalItems minProperties maxProperties " +
    "properties required additionalProperties propertyNames anyOf oneOf dependentRequired " +
    "dependentSchemas minContains maxContains").split(" "),
);

const KINDS: ReadonlySet<string> = new Set([...ALL_KINDS, "integer"]);

/** The constraints of one schema beside its `$ref` and `allOf`. Throws `invalidInput` with the place. */
export function parseLevel(schema: JsonObject, at: string): Flat {
  const limit = (key: string, min = 0): number | undefined => {
    const value = schema[key];
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= min) return value;
    throw wrong(`${at}/${key}`, "it is not a whole number");
  };
  const inner = (key: string): Schema | undefined =>
    schema[key] === undefined ? undefined : asSchema(schema[key], `${at}/${key}`);
  return {
    kinds: kindsOf(schema["type"], at),
    values: valuesOf(schema, at),
    not: schema["not"] === undefined ? undefined : [asSchema(schema["not"], `${at}/not`)],
    low: bound(schema, at, ["minimum", "exclusiveMinimum"]),
    high: bound(schema, at, ["maximum", "exclusiveMaximum"]),
    multiples: multiples(schema, at),
    minLength: limit("minLength"),
    maxLength: limit("maxLength"),
    minItems: limit("minItems"),
    maxItems: limit("maxItems"),
    ...lists(schema, at),
    minProperties: limit("minProperties"),
    maxProperties: limit("maxProperties"),
    properties: schema["properties"] === undefined
      ? undefined
      : new Map(named(schema["properties"], `${at}/properties`)),
    required: names(schema["required"], `${at}/required`),
    additional: inner("additionalProperties"),
    keys: inner("propertyNames"),
    choices: choices(schema, at),
    ignored: Object.keys(schema)
      .filter((key) => !PLAIN.has(key) && !READ.has(key) && !key.startsWith("x-")),
  };
}

function kindsOf(type: Json | undefined, at: string): ReadonlySet<Kind> {
  if (type === undefined) return ALL_KINDS;
  const kinds = isList(type) ? type : [type];
  for (const kind of kinds) {
    if (typeof kind !== "string" || !KINDS.has(kind)) {
      throw wrong(`${at}/type`, `${JSON.stringify(kind)} is not a JSON Schema type`);
    }
  }
  const set = new Set(kinds as readonly Kind[]);
  if (set.has("number")) set.delete("integer");
  return set;
}

function valuesOf(schema: JsonObject, at: string): readonly Json[] | undefined {
  const { enum: listed, const: only } = schema;
  if (listed !== undefined && !isList(listed)) throw wrong(`${at}/enum`, "it is not a list");
  if (only === undefined) return listed;
  return listed === undefined || listed.some((each) => same(each, only)) ? [only] : [];
}

/** Whether two JSON values are equal, ignoring the order of keys. */
export function same(a: Json, b: Json): boolean {
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length &&
      keys.every((key) => b[key] !== undefined && same(a[key] ?? null, b[key]));
  }
  if (isList(a) && isList(b)) {
    return a.length === b.length && a.every((each, n) => same(each, b[n] ?? null));
  }
  return a === b;
}

function bound(
  schema: JsonObject,
  at: string,
  [plain, exclusive]: readonly [string, string],
): Limit | undefined {
  const low = plain === "minimum";
  const [exclusiveValue, inclusiveValue] = [schema[exclusive], schema[plain]];
  for (const [key, value] of [[exclusive, exclusiveValue], [plain, inclusiveValue]] as const) {
    if (value !== undefined && typeof value !== "number" && typeof value !== "boolean") {
      throw wrong(`${at}/${key}`, "it is not a number");
    }
  }
  // In Draft 4 a boolean makes the other bound strict.
  if (typeof inclusiveValue === "number" && typeof exclusiveValue !== "number") {
    return { at: inclusiveValue, strict: exclusiveValue === true };
  }
  if (typeof exclusiveValue !== "number") return undefined;
  if (
    typeof inclusiveValue !== "number" ||
    (low ? exclusiveValue >= inclusiveValue : exclusiveValue <= inclusiveValue)
  ) {
    return { at: exclusiveValue, strict: true };
  }
  return { at: inclusiveValue, strict: false };
}

function multiples(schema: JsonObject, at: string): readonly number[] | undefined {
  const { multipleOf } = schema;
  if (multipleOf === undefined) return undefined;
  if (typeof multipleOf === "number" && multipleOf > 0) return [multipleOf];
  throw wrong(`${at}/multipleOf`, "it is not a number above 0");
}

function lists(schema: JsonObject, at: string): Pick<Flat, "prefix" | "items"> {
  const { prefixItems, items } = schema;
  const list = (value: Json, key: string): readonly Schema[] => {
    if (!isList(value)) throw wrong(`${at}/${key}`, "it is not a list");
    return value.map((each, n) => asSchema(each, `${at}/${key}/${n}`));
  };
  const rest = (key: string): Schema | undefined =>
    schema[key] === undefined ? undefined : asSchema(schema[key], `${at}/${key}`);
  if (isList(items)) return { prefix: list(items, "items"), items: rest("additionalItems") };
  return {
    prefix: prefixItems === undefined ? undefined : list(prefixItems, "prefixItems"),
    items: rest("items"),
  };
}

function named(value: Json, at: string): [string, Schema][] {
  if (!isObject(value)) throw wrong(at, "it is not an object");
  return Object.entries(value).map(([name, each]) => [name, asSchema(each, `${at}/${name}`)]);
}

function names(value: Json | undefined, at: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  // Draft 3 and OpenAPI 2 have a boolean here, which does not constrain this schema's own keys.
  if (typeof value === "boolean") return undefined;
  if (isList(value) && value.every((each) => typeof each === "string")) return value;
  throw wrong(at, "it is not a list of names");
}

function choices(schema: JsonObject, at: string): readonly Choice[] | undefined {
  const found: Choice[] = [];
  for (const key of ["anyOf", "oneOf"]) {
    const value = schema[key];
    if (value === undefined) continue;
    if (!isList(value) || value.length === 0) throw wrong(`${at}/${key}`, "it is not a list");
    const of = value.map((each, n) => asSchema(each, `${at}/${key}/${n}`));
    found.push({ of, exactlyOne: key === "oneOf" });
  }
  // "If `a` is present, then …" is the choice "`a` is absent, or `a` is present and …".
  const absent = (name: string): Schema => ({ properties: { [name]: false } });
  const { dependentRequired = {}, dependentSchemas = {} } = schema;
  for (
    const [name, value] of Object.entries(isObject(dependentRequired) ? dependentRequired : {})
  ) {
    const also = names(value, `${at}/dependentRequired/${name}`) ?? [];
    found.push({ of: [absent(name), { required: [name, ...also] }], exactlyOne: false });
  }
  for (const [name, each] of named(dependentSchemas, `${at}/dependentSchemas`)) {
    const present: Schema = { allOf: [{ required: [name] }, each] };
    found.push({ of: [absent(name), present], exactlyOne: false });
  }
  return found.length === 0 ? undefined : found;
}
