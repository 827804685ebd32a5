/** Reads the tokens of a filter, one at a time. @module */
import { Fault } from "../../../contracts/base/fault.ts";

/** A position in a filter's text. */
export interface Cursor {
  /** Skips blanks and comments, and takes `sign` unless it begins a longer sign. */
  sign(sign: string): boolean;
  /** Like `sign`, but fails if it is missing. */
  expect(sign: string): void;
  /** Takes this word. */
  word(word: string): boolean;
  /** Takes the match of a sticky expression, after blanks. */
  match(pattern: RegExp): string | undefined;
  /** Takes the next raw character: within texts. */
  raw(): string | undefined;
  /** The next character after blanks, without taking it. */
  peek(): string | undefined;
  /** Whether nothing is left. */
  done(): boolean;
  /** Runs `read` one level deeper. */
  nested<T>(read: () => T): T;
  fail(why: string): Fault;
}

/** Signs, longest first, so that `//` is not read as two `/`. */
const SIGNS = [
  "?//",
  "//=",
  "|=",
  "+=",
  "-=",
  "*=",
  "/=",
  "%=",
  "==",
  "!=",
  "<=",
  ">=",
  "//",
  "..",
  "and",
  "or",
];
const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const WORD = /[a-zA-Z_][a-zA-Z0-9_]*/y;
const NESTING = 100;

/** Makes a cursor at the beginning of `source`. */
export function makeCursor(source: string): Cursor {
  let at = 0;
  let depth = 0;
  const blank = (): void => {
    BLANK.lastIndex = at;
    at += BLANK.exec(source)?.[0].length ?? 0;
  };
  const fail = (why: string): Fault =>
    new Fault(
      "invalidArguments",
      `Cannot read the filter at character ${at + 1}: ${why}` +
        (at < source.length ? `; there stands ${JSON.stringify(source.slice(at, at + 20))}` : ""),
    );
  const match = (pattern: RegExp): string | undefined => {
    blank();
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const sign = (wanted: string): boolean => {
    blank();
    if (!source.startsWith(wanted, at)) return false;
    const longer = SIGNS.find((other) =>
      other.length > wanted.length && source.startsWith(other, at)
    );
    if (longer !== undefined) return false;
    at += wanted.length;
    return true;
  };
  return Object.freeze({
    sign,
    expect: (wanted: string) => {
      if (!sign(wanted)) throw fail(`"${wanted}" is missing`);
    },
    word: (wanted: string) => {
      blank();
      WORD.lastIndex = at;
      if (WORD.exec(source)?.[0] !== wanted) return false;
      at += wanted.length;
      return true;
    },
    match,
    raw: () => {
      const char = source[at];
      at += 1;
      return char;
    },
    peek: () => {
      blank();
      return source[at];
    },
    done: () => {
      blank();
      return at >= source.length;
    },
    nested: <T>(read: () => T): T => {
      depth += 1;
      if (depth > NESTING) throw fail(`it is nested more than ${NESTING} deep`);
      const result = read();
      depth -= 1;
      return result;
    },
    fail,
  });
}
