/** Grammars of JSON strings with bounded length, and of keys outside a list of names. @module */
import { alt, EMPTY, type Expr, literal, type Rules, seq, times } from "./gbnf.ts";

/** An unescaped character: no control character, quote, backslash or surrogate. */
const PLAIN = String.raw`[\x20-!#-\[\]-\uD7FF\uE000-\U0010FFFF]`;
const HEX = "[0-9a-fA-F]";
/** One character in any JSON notation; escaped surrogates only in pairs. */
const CHARACTER = [
  PLAIN,
  String.raw`"\\" (["\\/bfnrt] | "u" (([0-9a-cA-CefEF] ${HEX} | [dD] [0-7]) ${HEX}{2}` +
  String.raw` | [dD] [89abAB] ${HEX}{2} "\\u" [dD] [c-fC-F] ${HEX}{2}))`,
].join(" | ");

/** A quoted string of `min` to `max` characters (code points). */
export function string(rules: Rules, min: number, max: number): Expr {
  return seq(literal('"'), times(rules, rules.rule(CHARACTER), min, max), literal('"'));
}

/** A quoted key of `min` to about `max` characters, without escapes and not among `names`. */
export function otherKey(rules: Rules, keys: Keys): Expr | undefined {
  const inner = other(rules, keys);
  return inner === undefined ? undefined : seq(literal('"'), inner, literal('"'));
}

interface Keys {
  readonly names: readonly string[];
  readonly min: number;
  readonly max: number;
}

function other(rules: Rules, { names, min, max }: Keys): Expr | undefined {
  const plain = rules.rule(PLAIN);
  if (names.length === 0) return times(rules, plain, min, Math.max(min, max));
  const after = (rest: readonly string[]): Expr | undefined =>
    other(rules, { names: rest, min: Math.max(0, min - 1), max: Math.max(0, max - 1) });
  const groups = Map.groupBy(names.filter((each) => each !== ""), ([first = ""]) => first);
  const ended = names.includes("");
  const found = alt([
    ended || min > 0 ? undefined : EMPTY,
    max === 0 ? undefined : seq(butFor([...groups.keys()]), after([]) ?? EMPTY),
    ...(max === 0 ? [] : [...groups].map(([first, rest]) => {
      const more = after(rest.map((name) => name.slice(first.length)));
      return more === undefined || JSON.stringify(first) !== `"${first}"`
        ? undefined
        : seq(literal(first), more);
    })),
  ]);
  return found === undefined ? undefined : rules.rule(found);
}

/** An unescaped character outside `characters`. */
function butFor(characters: readonly string[]): Expr {
  const codes = characters.map((each) => each.codePointAt(0) ?? 0).sort((a, b) => a - b);
  const ranges: string[] = [];
  const code = (point: number): string => `\\U${point.toString(16).toUpperCase().padStart(8, "0")}`;
  for (
    const [low, high] of [[0x20, 0x21], [0x23, 0x5b], [0x5d, 0xd7ff], [0xe000, 0x10ffff]] as const
  ) {
    let from: number = low;
    for (const each of codes) {
      if (each < from || each > high) continue;
      if (each > from) ranges.push(`${code(from)}-${code(each - 1)}`);
      from = each + 1;
    }
    if (from <= high) ranges.push(`${code(from)}-${code(high)}`);
  }
  return `[${ranges.join("")}]`;
}
