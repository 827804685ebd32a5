/** Whether a value that a schema lists fits the rest of it. @module */
import { isList, isObject, type Json } from "../../contracts/json.ts";
import type { Flatten } from "./flatten.ts";
import { same } from "./parse.ts";
import { type Flat, type Kind, type Schema } from "./schema.ts";

/** Schemas within schemas that are looked at. */
const DEEPEST = 40;

/** Every keyword that the compiler holds to, and `not`. */
export function fits(
  value: Json,
  schema: Schema | Flat,
  { flatten, depth = 0 }: { readonly flatten: Flatten; readonly depth?: number },
): boolean {
  // A schema that offers itself as its own alternative says nothing more by that.
  if (depth > DEEPEST) return true;
  const inner = { flatten, depth: depth + 1 };
  const flat = isFlat(schema) ? schema : flatten(schema, "");
  const holds = (each: Schema): boolean => fits(value, each, inner);
  if (!ofKind(value, flat.kinds)) return false;
  if (flat.values !== undefined && !flat.values.some((each) => same(each, value))) return false;
  if (flat.not?.some(holds) === true) return false;
  for (const { of, exactlyOne } of flat.choices ?? []) {
    const fitting = of.filter(holds).length;
    if (fitting === 0 || (exactlyOne && fitting > 1)) return false;
  }
  if (typeof value === "number") return fitsNumber(value, flat);
  if (typeof value === "string") {
    return within([...value].length, flat.leastLength, flat.mostLength);
  }
  if (isList(value)) {
    return within(value.length, flat.leastItems, flat.mostItems) &&
      value.every((each, n) => fits(each, flat.prefix?.[n] ?? flat.items ?? true, inner));
  }
  return !isObject(value) || fitsObject(value, flat, inner);
}

function isFlat(schema: Schema | Flat): schema is Flat {
  return typeof schema === "object" && "kinds" in schema && schema.kinds instanceof Set;
}

function ofKind(value: Json, kinds: ReadonlySet<Kind>): boolean {
  if (value === null) return kinds.has("null");
  if (isList(value)) return kinds.has("array");
  if (typeof value === "object") return kinds.has("object");
  if (typeof value !== "number") return kinds.has(typeof value === "string" ? "string" : "boolean");
  return kinds.has("number") || (kinds.has("integer") && Number.isInteger(value));
}

function fitsNumber(value: number, { low, high, multiples = [] }: Flat): boolean {
  const above = low === undefined || value > low.at || (!low.strict && value === low.at);
  const below = high === undefined || value < high.at || (!high.strict && value === high.at);
  return above && below && multiples.every((each) => Number.isInteger(value / each));
}

function fitsObject(
  value: { readonly [key: string]: Json },
  { leastProperties, mostProperties, required = [], properties, additional = true, keys }: Flat,
  inner: { readonly flatten: Flatten; readonly depth: number },
): boolean {
  return within(Object.keys(value).length, leastProperties, mostProperties) &&
    required.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, each]) =>
      fits(each, properties?.get(name) ?? additional, inner) &&
      (keys === undefined || fits(name, keys, inner))
    );
}

function within(count: number, least = 0, most = Infinity): boolean {
  return count >= least && count <= most;
}
