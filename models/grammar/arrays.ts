/** Lists: places with schemas of their own, then items of one. @module */
import type { Compiler } from "./compile.ts";
import { alt, EMPTY, type Expr, literal, opt, seq, times } from "./gbnf.ts";
import type { Flat } from "./schema.ts";

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
