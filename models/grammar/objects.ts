/** Objects: properties in the schema's order, then entries under other keys. @module */
import { type Compiler, saysNothing } from "./compile.ts";
import { alt, EMPTY, type Expr, literal, opt, type Rules, seq, times } from "./gbnf.ts";
import type { Flat, Schema } from "./schema.ts";
import { otherKey } from "./strings.ts";

interface Place {
  readonly at: string;
  readonly hops: number;
}

/** A key with its value. */
interface Member {
  readonly entry: Expr;
  readonly required: boolean;
}

/** Other keys: their entry, and how many. */
interface Others {
  readonly entry: Expr;
  readonly least: number;
  readonly most: number;
}

/** Characters of a key that a schema does not name. */
const KEY = 64;

/** The objects of a flat schema; undefined for none. */
export function objects(compiler: Compiler, flat: Flat, place: Place): Expr | undefined {
  const { rules, bounds, note } = compiler;
  const members = membersOf(compiler, flat, place);
  if (members === undefined) return undefined;
  const { leastProperties = 0, mostProperties = Infinity } = flat;
  const required = members.filter((each) => each.required).length;
  if (required > mostProperties) return undefined;
  const others = othersOf(compiler, flat, place, required);
  const there = members.length + (others?.most ?? 0);
  if (there < leastProperties) return undefined;

  const comma = seq(literal(","), bounds.spaces ? opt(literal(" ")) : EMPTY);
  const empty = leastProperties === 0;
  const held = (others !== undefined && members.length === 0) ||
    ((leastProperties <= Math.max(1, required)) && there <= mostProperties);
  if (!held) {
    const why = "the number of keys is not held to";
    note({ path: `${place.at}/minProperties`, how: "widened", why });
  }
  const inside = inOrder(rules, comma, { members, others, empty });
  return inside === undefined ? undefined : seq(literal("{"), inside, literal("}"));
}

function membersOf(
  compiler: Compiler,
  flat: Flat,
  { at, hops }: Place,
): readonly Member[] | undefined {
  const { properties = new Map<string, Schema>(), required = [], additional, keys } = flat;
  const { bounds, rules } = compiler;
  const listed = keys === undefined ? undefined : compiler.flatten(keys, `${at}/propertyNames`);
  const named = new Map(properties);
  for (const name of required) if (!named.has(name)) named.set(name, additional ?? true);
  // Keys of which each is known are as good as properties.
  for (const name of listed?.values ?? []) {
    if (typeof name === "string" && !named.has(name)) named.set(name, additional ?? true);
  }
  const allowed = (name: string): boolean =>
    listed?.values === undefined || listed.values.includes(name);
  const members: Member[] = [];
  for (const [name, schema] of named) {
    const must = required.includes(name);
    // No parser of JSON in JavaScript is at ease with this one.
    const proto = name === "__proto__";
    if (proto) {
      compiler.note({ path: `${at}/properties/${name}`, how: "narrowed", why: "no such key" });
    }
    const value = allowed(name) && !proto
      ? compiler.values(schema, `${at}/properties/${escaped(name)}`, hops)
      : undefined;
    if (value === undefined && must) return undefined;
    if (value === undefined) continue;
    const colon = seq(
      literal(`${JSON.stringify(name)}:`),
      bounds.spaces ? opt(literal(" ")) : EMPTY,
    );
    members.push({ entry: rules.rule(seq(colon, value)), required: must });
  }
  return members;
}

function othersOf(
  compiler: Compiler,
  flat: Flat,
  { at, hops }: Place,
  required: number,
): Others | undefined {
  const { additional, properties, keys, leastProperties = 0, mostProperties = Infinity } = flat;
  const { bounds, rules, note } = compiler;
  const names = keys === undefined ? undefined : compiler.flatten(keys, `${at}/propertyNames`);
  // An object of which no key is named is open; one that names some is not, unless it says so.
  const schema = additional ?? properties === undefined;
  if (schema === false || names?.values !== undefined) return undefined;
  const most = Math.min(
    mostProperties - required,
    Math.max(bounds.entries, leastProperties - required),
    bounds.mostItems,
  );
  if (most <= 0) return undefined;
  if (names !== undefined && !saysNothing({ ...names, kinds: compiler.flatten(true, "").kinds })) {
    const { leastLength: _l, mostLength: _m, ...beyond } = names;
    if (!saysNothing({ ...beyond, kinds: compiler.flatten(true, "").kinds })) {
      note({
        path: `${at}/propertyNames`,
        how: "widened",
        why: "only lengths of keys are held to",
      });
    }
  }
  const key = otherKey(rules, {
    names: ["__proto__", ...properties?.keys() ?? []],
    least: names?.leastLength ?? 1,
    most: Math.min(names?.mostLength ?? KEY, KEY),
  });
  const value = compiler.values(schema, `${at}/additionalProperties`, hops);
  if (key === undefined || value === undefined) return undefined;
  if (most > 1) {
    note({ path: `${at}/additionalProperties`, how: "widened", why: "a key can come twice" });
  }
  const colon = seq(literal(":"), bounds.spaces ? opt(literal(" ")) : EMPTY);
  const least = properties === undefined ? Math.max(0, leastProperties - required) : 0;
  return { entry: rules.rule(seq(key, colon, value)), least, most };
}

/** Members in their order, with commas between those that are there. */
function inOrder(
  rules: Rules,
  comma: Expr,
  { members, others, empty }: {
    readonly members: readonly Member[];
    readonly others: Others | undefined;
    readonly empty: boolean;
  },
): Expr | undefined {
  // From the end: what follows when something stands before, and when nothing does.
  let after: Expr = others === undefined
    ? EMPTY
    : times(rules, seq(comma, others.entry), others.least, others.most);
  let first: Expr | undefined = others === undefined ? (empty ? EMPTY : undefined) : alt([
    empty && others.least === 0 ? EMPTY : undefined,
    seq(
      others.entry,
      times(rules, seq(comma, others.entry), Math.max(0, others.least - 1), others.most - 1),
    ),
  ]);
  for (const { entry, required } of [...members].reverse()) {
    const begun = seq(entry, after);
    first = required ? begun : alt([begun, first]);
    if (first !== undefined) first = rules.rule(first);
    const more = seq(comma, entry);
    after = rules.rule(seq(required ? more : opt(more), after));
  }
  return first;
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The lists of a flat schema; undefined for none. */
export function arrays(
  compiler: Compiler,
  flat: Flat,
  { at, hops }: { readonly at: string; readonly hops: number },
): Expr | undefined {
  const { rules, bounds, note } = compiler;
  const { leastItems = 0, prefix = [], items = true } = flat;
  const limit = flat.mostItems ?? Math.max(leastItems, prefix.length + bounds.items);
  if (leastItems > bounds.mostItems) {
    note({ path: `${at}/minItems`, how: "narrowed", why: "no list is so long" });
    return undefined;
  }
  if (limit > bounds.mostItems) {
    const why = `at most ${bounds.mostItems} items can be written`;
    note({ path: `${at}/maxItems`, how: "narrowed", why });
  }
  const most = Math.min(limit, bounds.mostItems);
  if (leastItems > most) return undefined;

  const places: Expr[] = [];
  let rest: Expr | undefined;
  for (const [n, schema] of prefix.slice(0, most).entries()) {
    const value = compiler.values(schema, `${at}/prefixItems/${n}`, hops);
    if (value === undefined) break;
    places.push(value);
  }
  // A place that nothing fits ends the list.
  const whole = places.length === Math.min(prefix.length, most);
  if (whole && most > places.length) rest = compiler.values(items, `${at}/items`, hops);
  const reach = rest === undefined ? places.length : most;
  if (leastItems > reach) return undefined;

  const comma = seq(literal(","), bounds.spaces ? opt(literal(" ")) : EMPTY);
  const after = (n: number): Expr => {
    if (n >= reach) return EMPTY;
    const value = places[n];
    if (value === undefined) {
      return rest === undefined
        ? EMPTY
        : times(rules, seq(comma, rest), Math.max(0, leastItems - n), reach - n);
    }
    const more = seq(comma, value, n + 1 < reach ? rules.rule(after(n + 1)) : EMPTY);
    return n < leastItems ? more : opt(more);
  };
  const first = reach === 0 ? undefined : places[0] ?? rest;
  const filled = first === undefined ? undefined : seq(first, after(1));
  const inside = alt([leastItems === 0 ? EMPTY : undefined, filled]);
  return inside === undefined ? undefined : seq(literal("["), inside, literal("]"));
}
