/**
 * Regular expressions, POSIX basic and extended, and file name patterns with `*`, `?` and `[…]`. No
 * back-references. @module
 */
import {
  type Assertion,
  type CharTest,
  makePattern,
  type Part,
  type Pattern,
} from "../../text/pattern.ts";
import { UsageError } from "./faults.ts";

/** The syntax and options of a pattern. */
export interface PatternStyle {
  /** Extended: `+ ? | ( ) { }` need no backslash. */
  readonly extended: boolean;
  readonly ignoreCase: boolean;
}

/** Maximum count in `{n,m}`. */
const REPEATS = 1_000;
/** Maximum nesting of groups. */
const DEPTH = 100;

/** A letter, a digit or `_`. */
const isWord: CharTest = (code) => code === 95 || isDigit(code) || isAlpha(code);
const isDigit: CharTest = (code) => code >= 48 && code <= 57;
const isUpper: CharTest = (code) =>
  code < 128 ? code >= 65 && code <= 90 : /^\p{Lu}$/u.test(String.fromCodePoint(code));
const isLower: CharTest = (code) =>
  code < 128 ? code >= 97 && code <= 122 : /^\p{Ll}$/u.test(String.fromCodePoint(code));
const isAlpha: CharTest = (code) =>
  code < 128 ? isUpper(code) || isLower(code) : /^\p{L}$/u.test(String.fromCodePoint(code));
const isBlank: CharTest = (code) => code === 32 || code === 9;
const isSpace: CharTest = (code) => code === 32 || (code >= 9 && code <= 13) || code === 0xa0;
const isControl: CharTest = (code) => code < 32 || code === 127;

const CLASSES: Readonly<Record<string, CharTest>> = {
  alpha: isAlpha,
  digit: isDigit,
  alnum: (code) => isDigit(code) || isAlpha(code),
  upper: isUpper,
  lower: isLower,
  space: isSpace,
  blank: isBlank,
  cntrl: isControl,
  print: (code) => !isControl(code),
  graph: (code) => !isControl(code) && !isSpace(code),
  punct: (code) => code > 32 && code < 127 && !isDigit(code) && !isAlpha(code),
  xdigit: (code) => isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102),
};
const ESCAPED_CLASSES: Readonly<Record<string, CharTest>> = {
  w: isWord,
  W: (code) => !isWord(code),
  s: isSpace,
  S: (code) => !isSpace(code),
  d: isDigit,
  D: (code) => !isDigit(code),
};
const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  b: "wordEdge",
  B: "noWordEdge",
  "<": "wordStart",
  ">": "wordEnd",
};
const CONTROLS: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f", v: "\v" };

function bad(pattern: string, why: string): UsageError {
  return new UsageError(`cannot read pattern ${JSON.stringify(pattern.slice(0, 80))}: ${why}`);
}

/** This character, or with `ignoreCase` either case of it. */
function exactly(code: number, ignoreCase: boolean): Part {
  if (!ignoreCase) {
    return { kind: "char", test: (other) => other === code, exact: String.fromCodePoint(code) };
  }
  const folded = foldCase(code);
  return { kind: "char", test: (other) => foldCase(other) === folded };
}

function foldCase(code: number): number {
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code;
  const lower = String.fromCodePoint(code).toLowerCase();
  return lower.codePointAt(0) ?? code;
}

function foldTest(test: CharTest): CharTest {
  return (code) => {
    if (test(code)) return true;
    const char = String.fromCodePoint(code);
    const lower = char.toLowerCase().codePointAt(0), upper = char.toUpperCase().codePointAt(0);
    return (lower !== undefined && test(lower)) || (upper !== undefined && test(upper));
  };
}

/** A literal text. */
export function literalNode(text: string, ignoreCase: boolean): Part {
  const parts = [...text].map((char) => exactly(char.codePointAt(0) ?? 0, ignoreCase));
  return { kind: "all", parts };
}

/**
 * Parses a pattern.
 *
 * @throws UsageError for unbalanced brackets, back-references and repeats past 1,000
 */
export function parsePattern(pattern: string, { extended, ignoreCase }: PatternStyle): Part {
  const chars = [...pattern];
  let at = 0, depth = 0;

  /** The length of the operator `sign` at this position, in either syntax; 0 for none. */
  const operator = (sign: string): number => {
    const escaped = chars[at] === "\\" && chars[at + 1] === sign;
    if (extended) return chars[at] === sign ? 1 : 0;
    return escaped ? 2 : 0;
  };
  const take = (sign: string): boolean => {
    const length = operator(sign);
    at += length;
    return length > 0;
  };

  const alternatives = (): Part => {
    if (++depth > DEPTH) throw bad(pattern, "it is nested too deeply");
    const parts = [sequence()];
    while (take("|")) parts.push(sequence());
    depth--;
    return parts.length === 1 ? parts[0] ?? EMPTY : { kind: "any", parts };
  };

  const sequence = (): Part => {
    const parts: Part[] = [];
    for (let first = true; !atEnd();) {
      const node = atom(first);
      // In a basic pattern a repetition sign after the first anchor is a literal character.
      first = first && !extended && node.kind === "assert" && node.what === "start";
      parts.push(first ? node : repeated(node));
    }
    return parts.length === 1 ? parts[0] ?? EMPTY : { kind: "all", parts };
  };

  const repeated = (part: Part): Part => {
    let node = part;
    for (;;) {
      if (chars[at] === "*") {
        at++;
        node = { kind: "repeat", part: node, least: 0, most: Infinity };
      } else if (take("+")) node = { kind: "repeat", part: node, least: 1, most: Infinity };
      else if (take("?")) node = { kind: "repeat", part: node, least: 0, most: 1 };
      else if (operator("{") > 0 && (!extended || /[0-9,]/.test(chars[at + 1] ?? ""))) {
        take("{");
        node = { kind: "repeat", part: node, ...bounds() };
      } else return node;
    }
  };

  const bounds = (): { readonly least: number; readonly most: number } => {
    const digits = (): number | undefined => {
      let text = "";
      while (/^[0-9]$/.test(chars[at] ?? "")) text += chars[at++];
      return text === "" ? undefined : Number(text);
    };
    const least = digits();
    let most = least;
    if (chars[at] === ",") {
      at++;
      most = digits() ?? Infinity;
    }
    if (!take("}")) throw bad(pattern, "a { is not closed");
    const low = least ?? 0, high = most ?? Infinity;
    if (low > REPEATS || (high !== Infinity && high > REPEATS)) {
      throw bad(pattern, `it repeats more than ${REPEATS} times`);
    }
    if (high < low) throw bad(pattern, "its bounds are the wrong way round");
    return { least: low, most: high };
  };

  const atom = (first: boolean): Part => {
    const char = chars[at] ?? "";
    if (take("(")) {
      const inner = alternatives();
      if (!take(")")) throw bad(pattern, "a ( is not closed");
      return inner;
    }
    at++;
    if (char === "[") return { kind: "char", test: bracket() };
    if (char === ".") return { kind: "char", test: () => true };
    // In a basic pattern an anchor is special only at its end of a sequence.
    if (char === "^" && (extended || first)) return { kind: "assert", what: "start" };
    if (char === "$" && (extended || atEnd())) return { kind: "assert", what: "end" };
    // GNU accepts these with a warning, although their meaning is unclear.
    if (extended && (/[*+?]/.test(char) || (char === "{" && /[0-9,]/.test(chars[at] ?? "")))) {
      throw bad(pattern, `nothing stands before a ${char}`);
    }
    if (char === "\\") return escape();
    return exactly(char.codePointAt(0) ?? 0, ignoreCase);
  };

  const atEnd = (): boolean => at >= chars.length || operator("|") > 0 || operator(")") > 0;

  const escape = (): Part => {
    const char = chars[at++];
    if (char === undefined) throw bad(pattern, "it ends with a backslash");
    if (/^[1-9]$/.test(char)) throw bad(pattern, "back-references are not supported");
    const test = Object.hasOwn(ESCAPED_CLASSES, char) ? ESCAPED_CLASSES[char] : undefined;
    if (test !== undefined) return { kind: "char", test };
    const what = Object.hasOwn(ASSERTIONS, char) ? ASSERTIONS[char] : undefined;
    if (what !== undefined) return { kind: "assert", what };
    const meant = Object.hasOwn(CONTROLS, char) ? CONTROLS[char] ?? char : char;
    return exactly(meant.codePointAt(0) ?? 0, ignoreCase);
  };

  const bracket = (): CharTest => {
    const not = chars[at] === "^";
    if (not) at++;
    const tests: CharTest[] = [];
    for (let first = true;; first = false) {
      const char = chars[at++];
      if (char === undefined) throw bad(pattern, "a [ is not closed");
      if (char === "]" && !first) break;
      if (char === "[" && chars[at] === ":") {
        const close = chars.indexOf(":", at + 1);
        const name = chars.slice(at + 1, close).join("");
        const test = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
        if (close < 0 || test === undefined) {
          throw bad(pattern, `no class [:${name.slice(0, 20)}:]`);
        }
        at = close + 2;
        tests.push(test);
        continue;
      }
      if (char === "\\" && extended) {
        const escaped = chars[at] ?? "";
        const test = Object.hasOwn(ESCAPED_CLASSES, escaped) ? ESCAPED_CLASSES[escaped] : undefined;
        if (test !== undefined) {
          at++;
          tests.push(test);
          continue;
        }
      }
      const from = char.codePointAt(0) ?? 0;
      const to = chars[at + 1];
      if (chars[at] === "-" && to !== undefined && to !== "]") {
        const until = to.codePointAt(0) ?? 0;
        at += 2;
        if (until < from) throw bad(pattern, "a range is the wrong way round");
        tests.push((code) => code >= from && code <= until);
      } else tests.push((code) => code === from);
    }
    const some: CharTest = (code) => tests.some((test) => test(code));
    const folded = ignoreCase ? foldTest(some) : some;
    return not ? (code) => !folded(code) : folded;
  };

  const tree = alternatives();
  if (at < chars.length) throw bad(pattern, "a ) has no (");
  return tree;
}

const EMPTY: Part = Object.freeze({ kind: "all", parts: [] });

/** Maximum states of a pattern. */
const STATES = 10_000;

/**
 * Compiles a pattern that finds the longest of the leftmost occurrences. Throws {@link UsageError}
 * past 10,000 states.
 */
export function readyPattern(tree: Part): Pattern {
  return makePattern(tree, {
    word: isWord,
    longest: true,
    states: STATES,
    tooLarge: () => new UsageError("the pattern is too large"),
  });
}

// Names with `*`, `?` and `[…]`, matched in time linear in the pattern for each character.

/** Tells whether a whole name matches; `*` matches `/` too, as in find. */
export function makeNameTest(glob: string, ignoreCase: boolean): (name: string) => boolean {
  const parts: Part[] = [{ kind: "assert", what: "start" }];
  for (let at = 0; at < glob.length;) {
    const close = glob[at] === "[" ? setEnd(glob, at + 1) : -1;
    const char = String.fromCodePoint(glob.codePointAt(at) ?? 0);
    let used = char.length;
    if (char === "*") parts.push({ kind: "repeat", part: ANY, least: 0, most: Infinity });
    else if (char === "?") parts.push(ANY);
    else if (close > 0) {
      used = close + 1 - at;
      const set = glob.slice(at, at + used).replace(/^\[!/, "[^");
      parts.push(parsePattern(set, { extended: false, ignoreCase }));
    } else {
      const escaped = char === "\\" ? glob[at + 1] : undefined;
      if (escaped !== undefined) used = 2;
      parts.push(literalNode(escaped ?? char, ignoreCase));
    }
    at += used;
  }
  parts.push({ kind: "assert", what: "end" });
  return readyPattern({ kind: "all", parts }).test;
}

const ANY: Part = { kind: "char", test: () => true };

/** The index of the `]` that closes a set whose contents begin at `from`; -1 for none. */
function setEnd(glob: string, from: number): number {
  let at = from + (glob[from] === "!" || glob[from] === "^" ? 1 : 0);
  // A `]` at the beginning belongs to the set.
  if (glob[at] === "]") at++;
  for (; at < glob.length; at++) {
    if (glob[at] === "]") return at;
    if (!glob.startsWith("[:", at)) continue;
    const close = glob.indexOf(":]", at + 2);
    if (close >= 0) at = close + 1;
  }
  return -1;
}
