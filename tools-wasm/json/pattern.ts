/** Regular expressions of filters and schemas, limited to what matches in linear time. @module */
import { Fault } from "../../contracts/base/fault.ts";
import {
  type Assertion,
  type CharTest,
  makePattern,
  type Part,
  type Pattern,
} from "../../text/pattern.ts";

/** A compiled expression, and the names of its groups from 1. */
export interface NamedPattern extends Pattern {
  readonly names: readonly (string | undefined)[];
}

/**
 * The meaning of flags: `i` ignores case, `s` lets the dot match a line end, `u` extends `\w` and
 * `\d` to the letters and digits of all scripts, as in jq and unlike JSON Schema.
 */
interface PatternFlags {
  readonly i: boolean;
  readonly s: boolean;
  readonly u: boolean;
}

const CONTROL: Readonly<Record<string, string>> = {
  t: "\t",
  n: "\n",
  r: "\r",
  f: "\f",
  v: "\v",
  "0": "\0",
};
const EDGES: Readonly<Record<string, Assertion>> = {
  b: "wordEdge",
  B: "noWordEdge",
  A: "start",
  z: "end",
  Z: "end",
};
/** Escapes for a set or a number, evaluated by the engine's expressions, a character at a time. */
const ESCAPE =
  /^\\(?:[dDwWsS]|[pP]\{[^{}]{1,40}\}|u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z])/;
/** The classes of flag `u`, as parts of a set. */
const UNICODE: Readonly<Record<string, string>> = {
  w: "\\p{L}\\p{M}\\p{N}\\p{Pc}",
  W: "\\p{C}\\p{Z}\\p{S}\\p{Pd}\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}\\p{Po}",
  d: "\\p{Nd}",
  D: "\\P{Nd}",
};
const BOUNDS = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/;
const NESTING = 40;
const MAX_REPEATS = 1_000;
const MAX_REMEMBERED = 1_000;

const MAX_STATES = 4_000;
const WORD: CharTest = (code) => code < 128 && /^\w$/.test(String.fromCodePoint(code));
const WIDE_WORD: CharTest = (code) => /^[\p{L}\p{M}\p{N}\p{Pc}]$/u.test(String.fromCodePoint(code));

/**
 * Compiles an expression. `flags`: any of `i` (ignore case), `s` (dot matches line ends), `u` (see
 * {@link PatternFlags}); `spend` receives the number of steps of each search, and may throw.
 *
 * @throws {Fault} `invalidArguments` for a syntax error, an expression that is too large, and one
 * that needs more than linear time: back-references, lookahead, lookbehind
 */
export function readPattern(
  source: string,
  { flags = "", spend }: {
    readonly flags?: string;
    readonly spend?: (steps: number) => void;
  } = {},
): NamedPattern {
  const [i, s, u] = [flags.includes("i"), flags.includes("s"), flags.includes("u")];
  const { part, names } = parsePattern(source, { i, s, u });
  const pattern = makePattern(part, {
    word: u ? WIDE_WORD : WORD,
    states: MAX_STATES,
    tooLarge: () =>
      new Fault(
        "invalidArguments",
        "Cannot use the pattern: it is too large with its repeats written out",
      ),
    spend,
  });
  return Object.freeze({ ...pattern, names });
}

function parsePattern(
  source: string,
  flags: PatternFlags,
): { readonly part: Part; readonly names: readonly (string | undefined)[] } {
  let at = 0;
  let depth = 0;
  const names: (string | undefined)[] = [];
  const fail = (why: string): Fault =>
    new Fault(
      "invalidArguments",
      `Cannot read the pattern ${JSON.stringify(source.slice(0, 80))}: ${why}`,
    );

  const alternatives = (): Part => {
    depth += 1;
    if (depth > NESTING) throw fail("it is nested too deep");
    const parts = [sequence()];
    while (source[at] === "|") {
      at += 1;
      parts.push(sequence());
    }
    depth -= 1;
    return { kind: "any", parts };
  };

  const sequence = (): Part => {
    const parts: Part[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") {
      parts.push(repeated(atom()));
    }
    return { kind: "all", parts };
  };

  const repeated = (part: Part): Part => {
    let made = part;
    for (let bounds = quantity(); bounds !== undefined; bounds = quantity()) {
      const greedy = source[at] !== "?";
      if (!greedy) at += 1;
      if (source[at] === "+" && greedy) throw fail("possessive repeats are not supported");
      made = { kind: "repeat", part: made, ...bounds, lazy: !greedy };
    }
    return made;
  };

  const quantity = (): { readonly least: number; readonly most: number } | undefined => {
    const sign = source[at] ?? "";
    if ("*+?".includes(sign) && sign !== "") {
      at += 1;
      return { least: sign === "+" ? 1 : 0, most: sign === "?" ? 1 : Infinity };
    }
    const found = BOUNDS.exec(source.slice(at, at + 12));
    if (found === null) return undefined;
    at += found[0].length;
    const least = Number(found[1]);
    const most = found[2] === undefined
      ? least
      : found[3] === undefined
      ? Infinity
      : Number(found[3]);
    if (most < least) throw fail(`${found[0]} is the wrong way round`);
    if (least > MAX_REPEATS || (most !== Infinity && most > MAX_REPEATS)) {
      throw fail(`it repeats more than ${MAX_REPEATS} times`);
    }
    return { least, most };
  };

  const atom = (): Part => {
    const point = String.fromCodePoint(source.codePointAt(at) ?? 0);
    if (point === "(") return group();
    if (point === "[") return set();
    if (point === "\\") return escape();
    if ("*+?".includes(point)) throw fail(`nothing stands before "${point}"`);
    at += point.length;
    if (point === "^") return { kind: "assert", what: "start" };
    if (point === "$") return { kind: "assert", what: "end" };
    if (point === ".") return { kind: "char", test: (code) => flags.s || code !== 10 };
    return literal(point);
  };

  const literal = (wanted: string): Part => {
    const own = wanted.codePointAt(0);
    if (!flags.i || wanted.toLowerCase() === wanted.toUpperCase()) {
      return { kind: "char", test: (code) => code === own };
    }
    const lower = wanted.toLowerCase();
    return {
      kind: "char",
      test: (code) => code === own || String.fromCodePoint(code).toLowerCase() === lower,
    };
  };

  const group = (): Part => {
    at += 1;
    let index = -1;
    if (source[at] !== "?") index = names.push(undefined);
    else {
      const head = /^\?(?::|P?<([a-zA-Z_][a-zA-Z0-9_]{0,63})>)/.exec(source.slice(at, at + 70));
      if (head === null) throw fail("looking ahead or behind and inline flags are not supported");
      if (head[1] !== undefined) index = names.push(head[1]);
      at += head[0].length;
    }
    const part = alternatives();
    if (source[at] !== ")") throw fail('a ")" is missing');
    at += 1;
    return index < 0 ? part : { kind: "group", part, index };
  };

  const set = (): Part => {
    let end = at + 1;
    while (end < source.length && source[end] !== "]") end += source[end] === "\\" ? 2 : 1;
    if (end >= source.length) throw fail('a "]" is missing');
    const text = source.slice(at, end + 1);
    at = end + 1;
    return oneOf(text);
  };

  const escape = (): Part => {
    const known = ESCAPE.exec(source.slice(at, at + 50))?.[0];
    if (known !== undefined) {
      at += known.length;
      return oneOf(known);
    }
    const char = String.fromCodePoint(source.codePointAt(at + 1) ?? 0);
    at += 1 + char.length;
    const what = EDGES[char];
    if (what !== undefined) return { kind: "assert", what };
    const control = CONTROL[char];
    if (control !== undefined) return literal(control);
    if (/[1-9k]/.test(char)) throw fail("back-references are not supported");
    if (/[a-zA-Z\0]/.test(char)) throw fail(`"\\${char}" is no escape`);
    return literal(char);
  };

  /** The engine's own set, tested one character at a time, so that nothing can backtrack. */
  const oneOf = (text: string): Part => {
    const meant = (escaped: string): string =>
      escaped.replaceAll(/\\([^])/gu, (whole, char: string) => UNICODE[char] ?? whole);
    const wide = text.startsWith("[") ? meant(text) : `[${meant(text)}]`;
    let native: RegExp;
    try {
      native = new RegExp(`^${flags.u ? wide : text}$`, flags.i ? "iu" : "u");
    } catch {
      throw fail(`${text} is no set of characters`);
    }
    const known = new Map<number, boolean>();
    const test: CharTest = (code) => {
      const before = known.get(code);
      if (before !== undefined) return before;
      const holds = native.test(String.fromCodePoint(code));
      if (known.size < MAX_REMEMBERED) known.set(code, holds);
      return holds;
    };
    return { kind: "char", test };
  };

  const part = alternatives();
  if (at < source.length) throw fail('a ")" has no "("');
  return { part, names };
}
