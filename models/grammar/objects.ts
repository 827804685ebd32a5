/** Grammars of objects and arrays. Properties come in the schema's order, then other keys. @module */
import { type Compiler, saysNothing } from "./compile.ts";
import { alt, EMPTY, type Expr, literal, opt, type Rules, seq, times } from "./gbnf.ts";
import type { Flat, Schema } from "./schema.ts";
import { otherKey } from "./strings.ts";

interface Place {
  readonly at: string;
  readonly hops: number;
}

/** A property with its value. */
interface Member {
  readonly entry: Expr;
  readonly required: boolean;
}

/** Entries under keys that the schema does not name, and how many. */
interface Others {
  readonly entry: Expr;
  readonly min: number;
  readonly max: number;
}

/** Characters of a key that the schema does not name. */
const MAX_KEY = 64;
/** Entries under keys that the schema does not name. */
const ENTRIES = 8;
/** Items of an array whose schema has no `maxItems`, and of any array. */
const [ITEMS, MAX_ITEMS] = [16, 1_024];

/** Expression for the objects of a flat schema; undefined for none. */
export function objects(compiler: Compiler, flat: Flat, place: Place): Expr | undefined {
  const { rules, bounds, note } = compiler;
  const members = membersOf(compiler, flat, place);
  if (members === undefined) return undefined;
  const { minProperties = 0, maxProperties = Infinity } = flat;
  const required = members.filter((each) => each.required).length;
  if (required > maxProperties) return undefined;
  const others = othersOf(compiler, flat, place, required);
  const there = members.length + (others?.max ?? 0);
  if (there < minProperties) return undefined;

  const comma = seq(literal(","), bounds.spaces ? opt(literal(" ")) : EMPTY);
  const empty = minProperties === 0;
  const held = (others !== undefined && members.length === 0) ||
    ((minProperties <= Math.max(1, required)) && there <= maxProperties);
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
  // An enumerated key is as good as a property.
  for (const name of listed?.values ?? []) {
    if (typeof name === "string" && !named.has(name)) named.set(name, additional ?? true);
  }
  const allowed = (name: string): boolean =>
    listed?.values === undefined || listed.values.includes(name);
  const members: Member[] = [];
  for (const [name, schema] of named) {
    const must = required.includes(name);
    // This key sets the prototype in much JavaScript code, so no grammar writes it.
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
  const { additional, properties, keys, minProperties = 0, maxProperties = Infinity } = flat;
  const { bounds, rules, note } = compiler;
  const names = keys === undefined ? undefined : compiler.flatten(keys, `${at}/propertyNames`);
  // An object schema without named properties is open; one with names is closed unless it says otherwise.
  const schema = additional ?? properties === undefined;
  if (schema === false || names?.values !== undefined) return undefined;
  const max = Math.min(
    maxProperties - required,
    Math.max(ENTRIES, minProperties - required),
    MAX_ITEMS,
  );
  if (max <= 0) return undefined;
  if (names !== undefined && !saysNothing({ ...names, kinds: compiler.flatten(true, "").kinds })) {
    const { minLength: _l, maxLength: _m, ...beyond } = names;
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
    min: names?.minLength ?? 1,
    max: Math.min(names?.maxLength ?? MAX_KEY, MAX_KEY),
  });
  const value = compiler.values(schema, `${at}/additionalProperties`, hops);
  if (key === undefined || value === undefined) return undefined;
  if (max > 1) {
    note({ path: `${at}/additionalProperties`, how: "widened", why: "a key can come twice" });
  }
  const colon = seq(literal(":"), bounds.spaces ? opt(literal(" ")) : EMPTY);
  const min = properties === undefined ? Math.max(0, minProperties - required) : 0;
  return { entry: rules.rule(seq(key, colon, value)), min, max };
}

/** Members in order, with commas between those present. */
function inOrder(
  rules: Rules,
  comma: Expr,
  { members, others, empty }: {
    readonly members: readonly Member[];
    readonly others: Others | undefined;
    readonly empty: boolean;
  },
): Expr | undefined {
  // Built from the end: `after` follows an earlier member, `first` follows none.
  let after: Expr = others === undefined
    ? EMPTY
    : times(rules, seq(comma, others.entry), others.min, others.max);
  let first: Expr | undefined = others === undefined ? (empty ? EMPTY : undefined) : alt([
    empty && others.min === 0 ? EMPTY : undefined,
    seq(
      others.entry,
      times(rules, seq(comma, others.entry), Math.max(0, others.min - 1), others.max - 1),
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

/** Expression for the arrays of a flat schema; undefined for none. */
export function arrays(
  compiler: Compiler,
  flat: Flat,
  { at, hops }: { readonly at: string; readonly hops: number },
): Expr | undefined {
  const { rules, bounds, note } = compiler;
  const { minItems = 0, prefix = [], items = true } = flat;
  const limit = flat.maxItems ?? Math.max(minItems, prefix.length + ITEMS);
  if (minItems > MAX_ITEMS) {
    note({ path: `${at}/minItems`, how: "narrowed", why: "no list is so long" });
    return undefined;
  }
  if (limit > MAX_ITEMS) {
    const why = `at most ${MAX_ITEMS} items can be written`;
    note({ path: `${at}/maxItems`, how: "narrowed", why });
  }
  const max = Math.min(limit, MAX_ITEMS);
  if (minItems > max) return undefined;

  const places: Expr[] = [];
  let rest: Expr | undefined;
  for (const [n, schema] of prefix.slice(0, max).entries()) {
    const value = compiler.values(schema, `${at}/prefixItems/${n}`, hops);
    if (value === undefined) break;
    places.push(value);
  }
  // The list ends at the first item that no value fits.
  const whole = places.length === Math.min(prefix.length, max);
  if (whole && max > places.length) rest = compiler.values(items, `${at}/items`, hops);
  const reach = rest === undefined ? places.length : max;
  if (minItems > reach) return undefined;

  const comma = seq(literal(","), bounds.spaces ? opt(literal(" ")) : EMPTY);
  const after = (n: number): Expr => {
    if (n >= reach) return EMPTY;
    const value = places[n];
    if (value === undefined) {
      return rest === undefined
        ? EMPTY
        : times(rules, seq(comma, rest), Math.max(0, minItems - n), reach - n);
    }
    const more = seq(comma, value, n + 1 < reach ? rules.rule(after(n + 1)) : EMPTY);
    return n < minItems ? more : opt(more);
  };
  const first = reach === 0 ? undefined : places[0] ?? rest;
  const filled = first === undefined ? undefined : seq(first, after(1));
  const inside = alt([minItems === 0 ? EMPTY : undefined, filled]);
  return inside === undefined ? undefined : seq(literal("["), inside, literal("]"));
}
