/** Conjunction of schemas. @module */
import type { Json } from "../../contracts/json.ts";
import { same } from "./parse.ts";
import { ALL_KINDS, type Flat, type Kind, type Limit, type Schema } from "./schema.ts";

/** Fits everything. */
export const ANYTHING: Flat = Object.freeze({ kinds: ALL_KINDS });
/** Fits nothing. */
export const NOTHING: Flat = Object.freeze({ kinds: new Set<Kind>() });

/** What fits both. */
export function merge(a: Flat, b: Flat): Flat {
  const [prefix, items] = mergeLists(a, b);
  return {
    kinds: mergeKinds(a.kinds, b.kinds),
    values: mergeValues(a.values, b.values),
    not: joined(a.not, b.not),
    low: tighter(a.low, b.low, 1),
    high: tighter(a.high, b.high, -1),
    multiples: joined(a.multiples, b.multiples),
    leastLength: largest(a.leastLength, b.leastLength),
    mostLength: smallest(a.mostLength, b.mostLength),
    leastItems: largest(a.leastItems, b.leastItems),
    mostItems: smallest(a.mostItems, b.mostItems),
    prefix,
    items,
    leastProperties: largest(a.leastProperties, b.leastProperties),
    mostProperties: smallest(a.mostProperties, b.mostProperties),
    properties: mergeProperties(a, b),
    required: a.required && b.required
      ? [...new Set([...a.required, ...b.required])]
      : a.required ?? b.required,
    additional: both(a.additional, b.additional),
    keys: both(a.keys, b.keys),
    choices: joined(a.choices, b.choices),
    unheld: joined(a.unheld, b.unheld),
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
  // A name that only one of them knows is an additional property for the other.
  const of = (flat: Flat, name: string): Schema | undefined =>
    flat.properties?.get(name) ?? flat.additional;
  return new Map(
    [...names].map((name) => [name, both(of(a, name), of(b, name)) ?? true]),
  );
}
