/** Sort keys: parts of lines, as text by code points or as numbers of any length. @module */
import { UsageError } from "./faults.ts";
import { wholeNumber } from "./options.ts";

/** How one part is read. */
export interface Reading {
  /** Ignores leading blanks. */
  readonly b: boolean;
  /** Ignores case. */
  readonly f: boolean;
  /** Compares a leading number. */
  readonly n: boolean;
  readonly r: boolean;
}

/** One part of a line: fields `from` to `to`, counted from 1; absent `to`: the line's end. */
export interface SortKey extends Reading {
  readonly from: number;
  readonly to: number | undefined;
}

/** A decimal number as digits: a double would round 9007199254740993 to its neighbour. */
interface Decimal {
  readonly below: boolean;
  /** Without leading zeros. */
  readonly whole: string;
  /** Without trailing zeros. */
  readonly fraction: string;
}

/** The compared value of a line for one key. */
export type KeyValue = string | Decimal;

/** Parses `FROM[,TO]` with flags. As in POSIX, a key with its own flags ignores `all`. */
export function readKey(text: string, all: Reading): SortKey {
  const parts = /^([0-9]{1,4})([bfnr]*)(?:,([0-9]{1,4})([bfnr]*))?$/.exec(text);
  if (parts === null) {
    throw new UsageError(`-k ${JSON.stringify(text.slice(0, 40))}: not FROM[,TO]`);
  }
  const [, first = "", begin = "", last, end = ""] = parts;
  const from = wholeNumber(first, "-k", { min: 1 });
  const to = last === undefined ? undefined : wholeNumber(last, "-k", { min: from });
  const flags = begin + end;
  if (flags === "") return { ...all, from, to };
  const has = (flag: string): boolean => flags.includes(flag);
  return { b: begin.includes("b"), f: has("f"), n: has("n"), r: has("r"), from, to };
}

/** The part of a line that a key selects. Without a separator a field includes leading blanks. */
export function partOf(
  line: string,
  { from, to }: SortKey,
  separator: string | undefined,
): string {
  const begin = afterFields(line, from - 1, separator);
  if (to === undefined) return line.slice(begin);
  if (separator === undefined) return line.slice(begin, afterFields(line, to, separator));
  const end = line.indexOf(separator, afterFields(line, to - 1, separator));
  return line.slice(begin, end < 0 ? line.length : end);
}

/** The position after a line's first `count` fields and the separator behind them. */
function afterFields(line: string, count: number, separator: string | undefined): number {
  let at = 0;
  for (let left = count; left > 0 && at < line.length; left--) {
    if (separator === undefined) {
      while (line[at] === " " || line[at] === "\t") at++;
      while (at < line.length && line[at] !== " " && line[at] !== "\t") at++;
      continue;
    }
    const next = line.indexOf(separator, at);
    at = next < 0 ? line.length : next + separator.length;
  }
  return at;
}

/** The compared value of a part. */
export function valueOf(part: string, { b, f, n }: Reading): KeyValue {
  if (n) return readDecimal(part);
  const bare = b ? part.replace(/^[ \t]+/, "") : part;
  return f ? bare.toUpperCase() : bare;
}

function readDecimal(text: string): Decimal {
  const [, sign = "", digits = "", after = ""] = /^[ \t]*(-?)([0-9]*)(?:\.([0-9]*))?/.exec(text) ??
    [];
  const whole = digits.replace(/^0+/, ""), fraction = after.replace(/0+$/, "");
  return { below: sign === "-" && whole + fraction !== "", whole, fraction };
}

/** Negative, positive or zero, as for `Array.sort`. Both values have the same kind. */
export function compareValues(a: KeyValue, b: KeyValue): number {
  if (typeof a === "string" || typeof b === "string") return compareTexts(String(a), String(b));
  if (a.below !== b.below) return a.below ? -1 : 1;
  const size = a.whole.length - b.whole.length ||
    compareTexts(a.whole, b.whole) || compareTexts(a.fraction, b.fraction);
  return a.below ? -size : size;
}

/** Orders by code points: UTF-16 puts the surrogates of U+10000 and up before U+E000. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) {
    const left = a.charCodeAt(at), right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
