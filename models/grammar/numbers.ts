/** Grammars of numbers between bounds, built digit by digit. Used by compile.ts. @module */
import { alt, EMPTY, type Expr, literal, opt, seq } from "./gbnf.ts";

/** `[a-b]`, or a literal if both digits are equal; undefined for an empty range. */
function digits(from: number, to: number): Expr | undefined {
  return from > to ? undefined : from === to ? `"${from}"` : `[${from}-${to}]`;
}

/** `min` to `max` arbitrary digits. */
function anyDigits(min: number, max: number): Expr {
  if (max <= 0) return EMPTY;
  if (min === 1 && max === 1) return "[0-9]";
  return `[0-9]{${min === max ? min : `${min},${max}`}}`;
}

/** Integers from `low` to `high` without leading zeros; undefined for an empty range. */
export function integers(low: bigint, high: bigint): Expr | undefined {
  if (low > high) return undefined;
  const min = low > 0n ? low : 0n;
  // Excludes -0.
  const negative = low < 0n ? naturals(high < -1n ? -high : 1n, -low) : undefined;
  return alt([
    negative === undefined ? undefined : seq(`"-"`, negative),
    high < 0n ? undefined : naturals(min, high),
  ]);
}

/** Non-negative integers from `low` to `high`; undefined for an empty range. */
function naturals(low: bigint, high: bigint): Expr | undefined {
  if (low > high) return undefined;
  const [shortest, longest] = [`${low}`.length, `${high}`.length];
  const lengths: (Expr | undefined)[] = [];
  let whole: number | undefined;
  const close = (length: number): void => {
    if (whole !== undefined) lengths.push(seq("[1-9]", anyDigits(whole - 1, length - 1)));
    whole = undefined;
  };
  for (let length = shortest; length <= longest; length++) {
    const [first, last] = [
      length === 1 ? 0n : 10n ** BigInt(length - 1),
      10n ** BigInt(length) - 1n,
    ];
    if (length > 1 && low <= first && high >= last) {
      whole ??= length;
      continue;
    }
    close(length - 1);
    lengths.push(between(`${low > first ? low : first}`, `${high < last ? high : last}`));
  }
  close(longest);
  return alt(lengths);
}

/** Digit strings of equal length, from `low` to `high`. */
function between(low: string, high: string): Expr | undefined {
  if (low === high) return literal(low);
  if (/^0*$/.test(low) && /^9*$/.test(high)) return anyDigits(low.length, low.length);
  const [first, last] = [Number(low[0]), Number(high[0])];
  const [lows, highs] = [low.slice(1), high.slice(1)];
  if (first === last) return seq(literal(`${first}`), between(lows, highs) ?? EMPTY);
  // A first or last digit joins the middle range if the digits behind it are unconstrained.
  const from = /^0*$/.test(lows) ? first : first + 1;
  const to = /^9*$/.test(highs) ? last : last - 1;
  const middle = digits(from, to);
  return alt([
    from === first ? undefined : seq(`"${first}"`, between(lows, "9".repeat(lows.length)) ?? EMPTY),
    middle === undefined ? undefined : seq(middle, anyDigits(lows.length, lows.length)),
    to === last ? undefined : seq(`"${last}"`, between("0".repeat(highs.length), highs) ?? EMPTY),
  ]);
}

// Decimals between bounds, built digit by digit; no exponents.

/** A bound; strict bounds exclude themselves. */
interface Bound {
  readonly at: number;
  readonly strict: boolean;
}

/** Digits before the point without a bound, digits after the point, and extra digits behind those of a bound. */
const WHOLE = 9;
const FRACTION = 6;
const MORE = 3;
const WHOLE_END = 10n ** BigInt(WHOLE) - 1n;

/** A magnitude: `whole`, and the digits `after` the point without trailing zeros. */
interface Edge {
  readonly whole: bigint;
  readonly after: string;
  readonly strict: boolean;
}

/** Fraction digits: whether they may be absent, and the non-empty ones. */
interface Tail {
  readonly none: boolean;
  readonly some: Expr | undefined;
}

/** Decimals between two bounds: at most 9 digits before and 6 after the point, more where a bound has more. */
export function decimals(low: Bound | undefined, high: Bound | undefined): Expr | undefined {
  const zero: Edge = { whole: 0n, after: "", strict: false };
  const upward = high !== undefined && (high.at < 0 || (high.at === 0 && high.strict))
    ? undefined
    : magnitudes(low === undefined || low.at < 0 ? zero : edge(low), high && edge(high));
  const downward = low !== undefined && low.at >= 0
    ? undefined
    : magnitudes(high === undefined || high.at > 0 ? zero : edge(high), low && edge(low));
  return alt([downward === undefined ? undefined : seq(`"-"`, downward), upward]);
}

function edge({ at, strict }: Bound): Edge {
  const [mantissa = "0", power = "0"] = `${Math.abs(at)}`.split("e");
  const [before = "0", behind = ""] = mantissa.split(".");
  const shift = Number(power);
  const all = before + behind + "0".repeat(Math.max(0, shift - behind.length));
  const point = before.length + shift;
  const padded = point > 0 ? all : "0".repeat(1 - point) + all;
  const whole = padded.slice(0, Math.max(1, point));
  return {
    whole: BigInt(whole),
    after: padded.slice(whole.length).replace(/0+$/, ""),
    strict,
  };
}

function magnitudes(low: Edge, high: Edge | undefined): Expr | undefined {
  const end = high ?? { whole: low.whole > WHOLE_END ? low.whole * 10n : WHOLE_END, after: "" };
  if (low.whole > end.whole) return undefined;
  // More fraction digits than the bounds have, so that some value between them can be written.
  const length = Math.max(FRACTION, low.after.length + MORE, end.after.length + MORE);
  const free: Tail = { none: true, some: anyDigits(1, length) };
  const from = atLeast(low.after, length, low.strict);
  if (high === undefined) {
    return alt([
      joined(literal(`${low.whole}`), from),
      joined(naturals(low.whole + 1n, end.whole), free),
    ]);
  }
  if (low.whole === high.whole) {
    return joined(
      literal(`${low.whole}`),
      among({ from: low.after, to: high.after, length, low: low.strict, high: high.strict }),
    );
  }
  return alt([
    joined(literal(`${low.whole}`), from),
    joined(naturals(low.whole + 1n, high.whole - 1n), free),
    joined(literal(`${high.whole}`), atMost(high.after, length, high.strict)),
  ]);
}

function joined(whole: Expr | undefined, { none, some }: Tail): Expr | undefined {
  if (whole === undefined) return undefined;
  if (some === undefined) return none ? whole : undefined;
  const tail = seq(`"."`, some);
  return seq(whole, none ? opt(tail) : tail);
}

/** A digit, followed by a tail. */
function then(digit: Expr | undefined, { none, some }: Tail): Expr | undefined {
  if (digit === undefined || (some === undefined && !none)) return undefined;
  return seq(digit, some === undefined ? EMPTY : none ? opt(some) : some);
}

function free(length: number): Tail {
  return { none: true, some: length === 0 ? undefined : anyDigits(1, length) };
}

function atLeast(digitsOf: string, length: number, strict: boolean): Tail {
  if (digitsOf === "" && !strict) return free(length);
  const none = false;
  if (length === 0) return { none, some: undefined };
  const first = Number(digitsOf[0] ?? 0);
  const some = alt([
    then(digits(first + 1, 9), free(length - 1)),
    then(`"${first}"`, atLeast(digitsOf.slice(1), length - 1, strict)),
  ]);
  return { none, some };
}

function atMost(digitsOf: string, length: number, strict: boolean): Tail {
  if (digitsOf === "") {
    if (strict) return { none: false, some: undefined };
    return { none: true, some: length === 0 ? undefined : `"0"{1,${length}}` };
  }
  if (length === 0) return { none: true, some: undefined };
  const first = Number(digitsOf[0]);
  const some = alt([
    then(digits(0, first - 1), free(length - 1)),
    then(`"${first}"`, atMost(digitsOf.slice(1), length - 1, strict)),
  ]);
  return { none: true, some };
}

function among(
  { from, to, length, low, high }: {
    readonly from: string;
    readonly to: string;
    readonly length: number;
    readonly low: boolean;
    readonly high: boolean;
  },
): Tail {
  const none = from === "" && !low && (to !== "" || !high);
  const [first, last] = [Number(from[0] ?? 0), Number(to[0] ?? 0)];
  if (length === 0 || first > last) return { none, some: undefined };
  const [lows, highs] = [from.slice(1), to.slice(1)];
  if (first === last) {
    const inner = among({ from: lows, to: highs, length: length - 1, low, high });
    return { none, some: then(`"${first}"`, inner) };
  }
  const some = alt([
    then(`"${first}"`, atLeast(lows, length - 1, low)),
    then(digits(first + 1, last - 1), free(length - 1)),
    then(`"${last}"`, atMost(highs, length - 1, high)),
  ]);
  return { none, some };
}
