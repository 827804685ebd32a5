/** Whole numbers between bounds, digit by digit. @module */
import { alt, EMPTY, type Expr, literal, seq } from "./gbnf.ts";

/** `[a-b]` for two digits, a literal for one. */
export function digits(from: number, to: number): Expr | undefined {
  return from > to ? undefined : from === to ? `"${from}"` : `[${from}-${to}]`;
}

/** Any digits, from `least` to `most` of them. */
export function anyDigits(least: number, most: number): Expr {
  if (most <= 0) return EMPTY;
  if (least === 1 && most === 1) return "[0-9]";
  return `[0-9]{${least === most ? least : `${least},${most}`}}`;
}

/** Numbers from `low` to `high` without leading zeros; undefined where there is none. */
export function integers(low: bigint, high: bigint): Expr | undefined {
  if (low > high) return undefined;
  const least = low > 0n ? low : 0n;
  // -0 is no number of its own.
  const negative = low < 0n ? naturals(high < -1n ? -high : 1n, -low) : undefined;
  return alt([
    negative === undefined ? undefined : seq(`"-"`, negative),
    high < 0n ? undefined : naturals(least, high),
  ]);
}

/** Numbers from `low` ≥ 0 to `high`; undefined where there is none. */
export function naturals(low: bigint, high: bigint): Expr | undefined {
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

/** Digit strings of one length from `low` to `high`. */
function between(low: string, high: string): Expr | undefined {
  if (low === high) return literal(low);
  if (/^0*$/.test(low) && /^9*$/.test(high)) return anyDigits(low.length, low.length);
  const [first, last] = [Number(low[0]), Number(high[0])];
  const [lows, highs] = [low.slice(1), high.slice(1)];
  if (first === last) return seq(literal(`${first}`), between(lows, highs) ?? EMPTY);
  // A first or last digit whose rest is free belongs to the middle.
  const from = /^0*$/.test(lows) ? first : first + 1;
  const to = /^9*$/.test(highs) ? last : last - 1;
  const middle = digits(from, to);
  return alt([
    from === first ? undefined : seq(`"${first}"`, between(lows, "9".repeat(lows.length)) ?? EMPTY),
    middle === undefined ? undefined : seq(middle, anyDigits(lows.length, lows.length)),
    to === last ? undefined : seq(`"${last}"`, between("0".repeat(highs.length), highs) ?? EMPTY),
  ]);
}
