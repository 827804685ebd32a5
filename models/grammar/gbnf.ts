/** Builds bounded grammars in llama.cpp's notation (GBNF). @module */
import { Fault } from "../../contracts/base/fault.ts";

/** A GBNF sequence, safe to embed in another sequence. */
export type Expr = string;

/** Matches the empty text. */
export const EMPTY: Expr = '""';

/** Rules per grammar. */
const MAX_RULES = 8_192;
/** Bytes per grammar. */
const MAX_BYTES = 1_048_576;

/** Repetitions that llama.cpp unrolls for one symbol; it refuses 2,000. */
const BLOCK = 64;

/** Rules under construction. Equal bodies share a rule. */
export interface Rules {
  /** The name of the rule with this body. Throws `tooLarge` past {@link MAX_RULES} or {@link MAX_BYTES}. */
  rule(body: Expr): Expr;
  /** Adds mutually recursive rules: the n-th is named `name(n)`. Returns the first name. */
  named(name: (n: number) => string, bodies: readonly string[]): Expr;
  /** The text of the whole grammar. */
  render(root: Expr): string;
}

export function makeRules(): Rules {
  const names = new Map<Expr, string>();
  const lines: string[] = [];
  let bytes = 0;
  return Object.freeze({
    rule(body: Expr): Expr {
      if (/^r\d+$/.test(body)) return body;
      const known = names.get(body);
      if (known !== undefined) return known;
      const name = `r${names.size}`;
      bytes += body.length + name.length + 6;
      if (names.size >= MAX_RULES || bytes > MAX_BYTES) {
        throw new Fault("tooLarge", "Cannot make a grammar: the schemas are too large together");
      }
      names.set(body, name);
      return name;
    },
    named(name: (n: number) => string, bodies: readonly string[]): Expr {
      bodies.forEach((body, n) => lines.push(`${name(n)} ::= ${body}`));
      return name(0);
    },
    render(root: Expr): string {
      const all = [`root ::= ${root}`, ...lines];
      for (const [body, name] of names) all.push(`${name} ::= ${body}`);
      return `${all.join("\n")}\n`;
    },
  });
}

/** Matches exactly this text. */
export function literal(text: string): Expr {
  if (text === "") return EMPTY;
  const escaped = text.replace(/["\\]/g, "\\$&")
    .replace(/[^\x20-\x7e]/gu, (each) => {
      const code = each.codePointAt(0) ?? 0;
      const [letter, digits] = code < 256 ? ["x", 2] : code < 65_536 ? ["u", 4] : ["U", 8];
      return `\\${letter}${code.toString(16).toUpperCase().padStart(digits, "0")}`;
    });
  return `"${escaped}"`;
}

/** Concatenation. */
export function seq(...parts: readonly Expr[]): Expr {
  return parts.filter((each) => each !== EMPTY).join(" ") || EMPTY;
}

/** Alternation; undefined for no choice. */
export function alt(choices: readonly (Expr | undefined)[]): Expr | undefined {
  const there = [...new Set(choices.filter((each) => each !== undefined))];
  return there.length < 2 ? there[0] : `(${there.join(" | ")})`;
}

/** Optional. */
export function opt(what: Expr): Expr {
  return what === EMPTY ? EMPTY : `(${what})?`;
}

/** `what`, from `min` to `max` times, least ≤ most. Unambiguous if `what` is. */
export function times(rules: Rules, what: Expr, min: number, max: number): Expr {
  if (max === 0) return EMPTY;
  const unit = rules.rule(what);
  if (min === 1 && max === 1) return unit;
  if (max < BLOCK) return `${unit}{${min === max ? min : `${min},${max}`}}`;
  const block = rules.rule(`${unit}{${BLOCK}}`);
  const [fromBlocks, fromUnits] = [Math.floor(min / BLOCK), min % BLOCK];
  const [toBlocks, toUnits] = [Math.floor(max / BLOCK), max % BLOCK];
  const some = (from: number, to: number): Expr => times(rules, unit, from, to);
  const blocks = (from: number, to: number): Expr => times(rules, block, from, to);
  if (fromBlocks === toBlocks) {
    return seq(blocks(fromBlocks, fromBlocks), some(fromUnits, toUnits));
  }
  // The first and the last block need a case of their own only when they are partial.
  const low = fromUnits === 0 ? fromBlocks : fromBlocks + 1;
  const high = toUnits === BLOCK - 1 ? toBlocks : toBlocks - 1;
  return rules.rule(
    alt([
      low === fromBlocks
        ? undefined
        : seq(blocks(fromBlocks, fromBlocks), some(fromUnits, BLOCK - 1)),
      low > high ? undefined : seq(blocks(low, high), some(0, BLOCK - 1)),
      high === toBlocks ? undefined : seq(blocks(toBlocks, toBlocks), some(0, toUnits)),
    ]) ?? EMPTY,
  );
}

/**
 * Alternation of texts, each followed by its expression, with common prefixes factored out; undefined for no text.
 */
export function oneOf(
  rules: Rules,
  texts: readonly (readonly [text: string, then: Expr])[],
): Expr | undefined {
  const groups = Map.groupBy(new Map(texts), ([[first = ""]]) => first);
  return alt([...groups.values()].map((group) => {
    const [[text, then] = ["", EMPTY], ...others] = group;
    if (others.length === 0) return seq(literal(text), then);
    let prefix = "";
    for (const character of text) {
      if (!others.every(([each]) => each.startsWith(prefix + character))) break;
      prefix += character;
    }
    const rest = oneOf(rules, group.map(([each, after]) => [each.slice(prefix.length), after]));
    return seq(literal(prefix), rest === undefined ? EMPTY : rules.rule(rest));
  }));
}
