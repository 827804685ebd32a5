/** Merges schemas that must both hold, and flattens documents. Used by choices.ts and compile.ts. @module */
import { isList, isObject, type Json, type JsonObject } from "../../contracts/base/json.ts";
import { parseLevel, same } from "./parse_level.ts";
import {
  ALL_KINDS,
  asSchema,
  type Flat,
  type Kind,
  type Limit,
  type Schema,
  wrong,
} from "./schema.ts";

/** Fits everything. */
const ANYTHING: Flat = Object.freeze({ kinds: ALL_KINDS });
/** Fits nothing. */
const NOTHING: Flat = Object.freeze({ kinds: new Set<Kind>() });

/** A schema for the values that fit both. */
export function merge(a: Flat, b: Flat): Flat {
  const [prefix, items] = mergeLists(a, b);
  return {
    kinds: mergeKinds(a.kinds, b.kinds),
    values: mergeValues(a.values, b.values),
    not: joined(a.not, b.not),
    low: tighter(a.low, b.low, 1),
    high: tighter(a.high, b.high, -1),
    multiples: joined(a.multiples, b.multiples),
    minLength: largest(a.minLength, b.minLength),
    maxLength: smallest(a.maxLength, b.maxLength),
    minItems: largest(a.minItems, b.minItems),
    maxItems: smallest(a.maxItems, b.maxItems),
    prefix,
    items,
    minProperties: largest(a.minProperties, b.minProperties),
    maxProperties: smallest(a.maxProperties, b.maxProperties),
    properties: mergeProperties(a, b),
    required: a.required && b.required
      ? [...new Set([...a.required, ...b.required])]
      : a.required ?? b.required,
    additional: both(a.additional, b.additional),
    keys: both(a.keys, b.keys),
    choices: joined(a.choices, b.choices),
    ignored: joined(a.ignored, b.ignored),
    recursive: a.recursive === true || b.recursive === true,
  };
}

function both(a: Schema | undefined, b: Schema | undefined): Schema | undefined {
  if (a === undefined || a === b) return b;
  if (b === undefined) return a;
  if (a === false || b === false) return false;
  if (a === true) return b;
  return b === true ? a : { allOf: [a, b] };
}

function joined<T>(
  a: readonly T[] | undefined,
  b: readonly T[] | undefined,
): readonly T[] | undefined {
  return a === undefined || b === undefined ? a ?? b : [...a, ...b];
}

function largest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? a ?? b : Math.max(a, b);
}

function smallest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? a ?? b : Math.min(a, b);
}

function tighter(a: Limit | undefined, b: Limit | undefined, sign: 1 | -1): Limit | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.at === b.at) return a.strict ? a : b;
  return (a.at - b.at) * sign > 0 ? a : b;
}

function mergeKinds(a: ReadonlySet<Kind>, b: ReadonlySet<Kind>): ReadonlySet<Kind> {
  if (a === b) return a;
  const kept = new Set([...a].filter((kind) => b.has(kind)));
  for (const [one, other] of [[a, b], [b, a]] as const) {
    if (one.has("integer") && other.has("number")) kept.add("integer");
  }
  return kept;
}

function mergeValues(
  a: readonly Json[] | undefined,
  b: readonly Json[] | undefined,
): readonly Json[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.filter((each) => b.some((other) => same(each, other)));
}

function mergeLists(a: Flat, b: Flat): [readonly Schema[] | undefined, Schema | undefined] {
  if (a.prefix === undefined && b.prefix === undefined) {
    return [undefined, both(a.items, b.items)];
  }
  const length = Math.max(a.prefix?.length ?? 0, b.prefix?.length ?? 0);
  const prefix = Array.from(
    { length },
    (_, n) => both(a.prefix?.[n] ?? a.items, b.prefix?.[n] ?? b.items) ?? true,
  );
  return [prefix, both(a.items, b.items)];
}

function mergeProperties(a: Flat, b: Flat): ReadonlyMap<string, Schema> | undefined {
  if (a.properties === undefined && b.properties === undefined) return undefined;
  const names = new Set([...a.properties?.keys() ?? [], ...b.properties?.keys() ?? []]);
  // A name that only one schema lists is an additional property to the other.
  const of = (flat: Flat, name: string): Schema | undefined =>
    flat.properties?.get(name) ?? flat.additional;
  return new Map(
    [...names].map((name) => [name, both(of(a, name), of(b, name)) ?? true]),
  );
}

/** Nested references and conjunctions. */
const MAX_DEPTH = 64;

/** Flattens a schema: merges every `$ref` and `allOf` into it. `at` is its place. */
export type Flatten = (schema: Schema, at: string) => Flat;

/** Makes the {@link Flatten} of a document, which caches results and throws `invalidInput` for a dangling reference. */
export function makeFlatten(root: Schema): Flatten {
  const known = new WeakMap<JsonObject, Flat>();
  const leadsBack = makeLeadsBack(root);

  const flatten = (schema: Schema, at: string, under: readonly JsonObject[]): Flat => {
    if (typeof schema === "boolean") return schema ? ANYTHING : NOTHING;
    const kept = known.get(schema);
    if (kept !== undefined) return kept;
    if (under.includes(schema) || under.length > MAX_DEPTH) {
      throw wrong(at, "it refers to itself without end");
    }
    const within = [...under, schema];
    let flat = parseLevel(schema, at);
    const { $ref, allOf } = schema;
    if ($ref !== undefined) {
      if (typeof $ref !== "string") throw wrong(`${at}/$ref`, "it is not a reference");
      flat = merge(flatten(target(root, $ref, at), $ref.slice(1), within), flat);
      if (leadsBack($ref)) flat = { ...flat, recursive: true };
    }
    if (allOf !== undefined) {
      if (!isList(allOf)) throw wrong(`${at}/allOf`, "it is not a list");
      allOf.forEach((each, n) => {
        const place = `${at}/allOf/${n}`;
        flat = merge(flat, flatten(asSchema(each, place), place, within));
      });
    }
    known.set(schema, flat);
    return flat;
  };
  return (schema, at) => flatten(schema, at, []);
}

function target(root: Schema, reference: string, at: string): Schema {
  if (reference !== "#" && !reference.startsWith("#/")) {
    throw wrong(`${at}/$ref`, `${JSON.stringify(reference)} refers outside the schema`);
  }
  let found: Json | undefined = root;
  for (const part of reference.split("/").slice(1)) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, key)
      ? found[key]
      : isList(found) && /^\d{1,6}$/.test(key)
      ? found[Number(key)]
      : undefined;
  }
  if (found === undefined) {
    throw wrong(`${at}/$ref`, `${JSON.stringify(reference)} leads nowhere`);
  }
  return asSchema(found, reference);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A stray percent sign is literal.
    return part;
  }
}

/** Makes a test for whether a reference is reachable from its own target, which makes the schema recursive. */
function makeLeadsBack(root: Schema): (reference: string) => boolean {
  const direct = new Map<string, ReadonlySet<string>>();
  const beneath = (reference: string): ReadonlySet<string> => {
    const kept = direct.get(reference);
    if (kept !== undefined) return kept;
    const found = new Set<string>();
    const look = (value: Json): void => {
      if (isList(value)) value.forEach(look);
      else if (isObject(value)) {
        if (typeof value["$ref"] === "string") found.add(value["$ref"]);
        Object.values(value).forEach(look);
      }
    };
    look(target(root, reference, ""));
    direct.set(reference, found);
    return found;
  };
  const answers = new Map<string, boolean>();
  return (reference) => {
    const known = answers.get(reference);
    if (known !== undefined) return known;
    const seen = new Set<string>();
    const open = [...beneath(reference)];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...beneath(next));
    }
    // A reference to an enclosing definition is recursive, too.
    const back = [...seen].some((each) => reference === each || reference.startsWith(`${each}/`));
    answers.set(reference, back);
    return back;
  };
}
