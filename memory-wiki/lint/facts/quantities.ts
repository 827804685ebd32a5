/** Parses numbers in claims: quantities with units, or parts of names. Used by dates.ts and fact.ts. @module */
import { stemOf } from "../../search/stem.ts";
import type { Token } from "./tokens.ts";
import { COPULAS, NAMERS, NEGATIONS, QUANTIFIERS, STOP } from "./vocabulary.ts";

// Unit conversion: `0.5 min` equals `30 s`.

/** A dimension, and the factor to its base unit. */
interface Unit {
  readonly dimension: string;
  readonly factor: number;
}

const TABLE: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  time: {
    "ns nanosecond nanoseconds": 1e-9,
    "µs μs us microsecond microseconds": 1e-6,
    "ms msec millisecond milliseconds 毫秒": 1e-3,
    "s sec secs second seconds sekunde sekunden 秒": 1,
    "min mins minute minutes minuten 分钟": 60,
    "h hr hrs hour hours stunde stunden 小时": 3_600,
    "d day days tag tage tagen 天": 86_400,
    "week weeks woche wochen 周": 604_800,
    "month months monat monate 月": 2_629_800,
    "year years yr yrs jahr jahre 年": 31_557_600,
  },
  // KB and KiB are used interchangeably; TOLERANCE allows for the difference.
  bytes: {
    "byte bytes": 1,
    "kb kib kilobyte kilobytes kibibyte kibibytes": 1_024,
    "mb mib megabyte megabytes mebibyte mebibytes": 1_024 ** 2,
    "gb gib gigabyte gigabytes gibibyte gibibytes": 1_024 ** 3,
    "tb tib terabyte terabytes tebibyte tebibytes": 1_024 ** 4,
    "pb pib petabyte petabytes": 1_024 ** 5,
  },
  bits: {
    "bit bits": 1,
    "kbit kbits": 1e3,
    "mbit mbits": 1e6,
    "gbit gbits": 1e9,
  },
  length: {
    "nm nanometre nanometres nanometer nanometers": 1e-9,
    "µm micrometre micrometres": 1e-6,
    "mm millimetre millimetres millimeter millimeters": 1e-3,
    "cm centimetre centimetres centimeter centimeters": 1e-2,
    "m metre metres meter meters 米": 1,
    "km kilometre kilometres kilometer kilometers 公里": 1e3,
    "inch inches": 0.0254,
    "foot feet ft": 0.3048,
    "mile miles mi": 1_609.344,
  },
  mass: {
    "mg milligram milligrams": 1e-6,
    "g gram grams gramm": 1e-3,
    "kg kilogram kilograms kilogramm 公斤": 1,
    "t tonne tonnes ton tons": 1e3,
    "lb lbs pound pounds": 0.453_592_37,
  },
  volume: { "ml millilitre millilitres": 1e-3, "l litre litres liter liters": 1 },
  percent: { "% percent pct prozent": 1 },
  celsius: { "°c celsius": 1 },
  watt: { "w watt watts": 1, "kw kilowatt kilowatts": 1e3, "mw megawatt megawatts": 1e6 },
  hertz: { "hz hertz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9 },
  usd: { "$ usd dollar dollars": 1, "cent cents": 0.01 },
  eur: { "€ eur euro euros": 1 },
  gbp: { "£ gbp": 1 },
  yen: { "¥ yen jpy 元": 1 },
  times: { "x × times fold": 1 },
};

const UNITS: ReadonlyMap<string, Unit> = new Map(
  Object.entries(TABLE).flatMap(([dimension, forms]) =>
    Object.entries(forms).flatMap(([names, factor]) =>
      names.split(" ").map((name): [string, Unit] => [name, { dimension, factor }])
    )
  ),
);

/** Multipliers between a number and its unit. */
const SCALES: Readonly<Record<string, number>> = Object.freeze({
  hundred: 100,
  thousand: 1e3,
  million: 1e6,
  millions: 1e6,
  billion: 1e9,
  trillion: 1e12,
  dozen: 12,
  万: 1e4,
  亿: 1e8,
});

const NUMBER_WORDS: Readonly<Record<string, number>> = Object.freeze({
  zero: 0,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  fifteen: 15,
  sixteen: 16,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  ninety: 90,
});

/** The unit that a lower-case word names. */
export function unitOf(word: string): Unit | undefined {
  return UNITS.get(word);
}

/** The multiplier that a word names. */
function scaleOf(word: string): number | undefined {
  return Object.hasOwn(SCALES, word) ? SCALES[word] : undefined;
}

/** The number that a word names. */
export function numberWord(word: string): number | undefined {
  return Object.hasOwn(NUMBER_WORDS, word) ? NUMBER_WORDS[word] : undefined;
}

/** Kind of limit a number expresses. */
export type Bound = "is" | "atMost" | "atLeast" | "nearly";

/** A number with its unit, converted to the base unit. */
export interface Quantity {
  readonly low: number;
  readonly high: number;
  /** Half of the last decimal place; 0 for an integer. */
  readonly slack: number;
  /** Factor of the written unit: an integer may be rounded, `3` for `3.1`. */
  readonly factor: number;
  /** A dimension, or the counted thing; empty for neither. */
  readonly unit: string;
  readonly bound: Bound;
}

/** A parsed number: a quantity, part of a name (`port 80`), or neither. */
export type ReadNumber =
  | { readonly kind: "quantity"; readonly quantity: Quantity; readonly length: number }
  | { readonly kind: "name" | "other"; readonly text: string; readonly length: number };

interface Plain {
  readonly value: number;
  readonly digits: number;
  readonly suffix: string;
  readonly text: string;
}

const NO_COUNT = new Set("the any no every each this that which another only".split(" "));

function plainAt(tokens: readonly Token[], at: number): Plain | undefined {
  const token = tokens[at];
  if (token?.kind === "number") return token;
  if (token?.kind !== "word") return undefined;
  const value = numberWord(token.text);
  if (value === undefined) return undefined;
  if (token.text === "one") {
    const [before, after] = [tokens[at - 1], tokens[at + 1]];
    if (before?.kind === "word" && NO_COUNT.has(before.text)) return undefined;
    if (after?.kind !== "word" || STOP.has(after.text)) return undefined;
  }
  return { value, digits: 0, suffix: "", text: token.text };
}

/** Parses the number that begins at token `at`; undefined for none. */
export function readQuantity(
  tokens: readonly Token[],
  at: number,
  bound: Bound,
): ReadNumber | undefined {
  const first = plainAt(tokens, at);
  if (first === undefined) return undefined;
  const range = secondOf(tokens, at + 1);
  const second = range === undefined ? undefined : plainAt(tokens, range);
  const last = second ?? first;
  const after = (range ?? at) + 1;
  const unit = unitAt(tokens, after, last);
  const firstUnit = unitOf(first.suffix);
  if (unit === undefined || /^0\d/.test(first.text)) {
    // `2nd`, `3d`, `083947`: a word that begins with digits.
    return { kind: "other", text: first.text, length: 1 };
  }
  if (unit.kind !== "known" && isName(tokens, at)) {
    return { kind: "name", text: first.text, length: 1 };
  }
  if (unit.kind === "none" && !isValue(tokens, at)) {
    return { kind: "other", text: first.text, length: 1 };
  }
  const factor = unit.factor;
  const lowFactor = second !== undefined && firstUnit !== undefined ? firstUnit.factor : factor;
  return {
    kind: "quantity",
    length: after - at + unit.length,
    quantity: {
      low: first.value * lowFactor,
      high: last.value * factor,
      slack: last.digits === 0 ? 0 : 0.5 * 10 ** -last.digits * factor,
      factor,
      unit: unit.name,
      bound,
    },
  };
}

/** Position of the second number of a range: `10-20`, `10 to 20`, `between 10 and 20`. */
function secondOf(tokens: readonly Token[], at: number): number | undefined {
  const joint = tokens[at];
  if (plainAt(tokens, at + 1) === undefined) return undefined;
  if (joint?.kind === "mark" && (joint.text === "–" || joint.text === "-")) return at + 1;
  if (joint?.kind !== "word") return undefined;
  if (joint.text === "to" || joint.text === "bis") return at + 1;
  const before = tokens[at - 2];
  const between = before?.kind === "word" && before.text === "between";
  return joint.text === "and" && between ? at + 1 : undefined;
}

type UnitHere = {
  readonly kind: "known" | "counted" | "none";
  readonly name: string;
  readonly factor: number;
  /** Tokens that belong to the unit and are no terms. */
  readonly length: number;
};

function unitAt(tokens: readonly Token[], at: number, last: Plain): UnitHere | undefined {
  let factor = 1;
  let length = 0;
  if (last.suffix !== "") {
    const scale = scaleOf(last.suffix);
    const unit = unitOf(last.suffix);
    if (unit === undefined && scale === undefined) return undefined;
    if (unit !== undefined) {
      // `$5 million`
      const more = scaleAt(tokens, at);
      factor = unit.factor * (more ?? 1);
      return { kind: "known", name: unit.dimension, factor, length: more === undefined ? 0 : 1 };
    }
    factor = scale ?? 1;
  }
  const scale = scaleAt(tokens, at);
  if (scale !== undefined) {
    factor *= scale;
    length += 1;
  }
  const next = tokens[at + length];
  const text = next?.kind === "number" || next === undefined ? "" : next.text;
  const unit = unitOf(text);
  if (unit !== undefined) {
    return {
      kind: "known",
      name: unit.dimension,
      factor: factor * unit.factor,
      length: length + 1,
    };
  }
  const counted = next?.kind === "word" && !STOP.has(text) && !NEGATIONS.has(text) &&
    !QUANTIFIERS.has(text);
  // The counted thing remains a term.
  return counted
    ? { kind: "counted", name: `#${stemOf(text)}`, factor, length }
    : { kind: "none", name: "", factor, length };
}

function scaleAt(tokens: readonly Token[], at: number): number | undefined {
  const token = tokens[at];
  return token?.kind === "word" ? scaleOf(token.text) : undefined;
}

/** Whether the number belongs to the word before: `step 3`, `Windows 11`. */
function isName(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  if (before?.kind !== "word") return false;
  if (NAMERS.has(before.text)) return true;
  return before.capital && !STOP.has(before.text) && !QUANTIFIERS.has(before.text);
}

/** Whether a number without a unit is a value of the subject. */
function isValue(tokens: readonly Token[], at: number): boolean {
  for (let back = at - 1; back >= 0 && at - back < 5; back -= 1) {
    const token = tokens[back];
    if (token?.kind === "number" || token?.kind === "date" || token === undefined) return false;
    if (COPULAS.has(token.text)) return true;
    // Words of comparison may stand between.
    if (
      !/^(?:most|least|about|around|exactly|roughly|nearly|than|more|less|over|under|not|no|[<>≤≥~≈])$/u
        .test(token.text)
    ) {
      return false;
    }
  }
  return false;
}

const NEARLY = 0.2;
/** KB may mean KiB, and years differ in length. */
const TOLERANCE: Readonly<Record<string, number>> = Object.freeze({ bytes: 0.1, time: 0.02 });

/** Whether two quantities of the same thing contradict each other. */
export function quantitiesClash(a: Quantity, b: Quantity): boolean {
  if (a.unit !== b.unit) return false;
  const nearly = a.bound === "nearly" || b.bound === "nearly" ? NEARLY : 0;
  const part = Math.max(nearly, Object.hasOwn(TOLERANCE, a.unit) ? TOLERANCE[a.unit] ?? 0 : 0);
  const apart = (x: number, y: number): boolean => {
    const whole = (a.slack === 0) !== (b.slack === 0) && a.factor === b.factor ? a.factor / 2 : 0;
    const room = Math.max(a.slack === b.slack ? 0 : Math.max(a.slack, b.slack), whole, 1e-9);
    return Math.abs(x - y) > room + part * Math.max(Math.abs(x), Math.abs(y));
  };
  const exact = (bound: Bound): boolean => bound === "is" || bound === "nearly";
  if (exact(a.bound) && exact(b.bound)) {
    const [ranged, other] = a.low !== a.high ? [a, b] : [b, a];
    if (ranged.low === ranged.high || other.low !== other.high) {
      return apart(a.low, b.low) || apart(a.high, b.high);
    }
    // A value within a range is consistent with it.
    return (other.low < ranged.low && apart(other.low, ranged.low)) ||
      (other.high > ranged.high && apart(other.high, ranged.high));
  }
  // Two limits of the same kind must be equal.
  if (a.bound === b.bound) return apart(a.low, b.low);
  const most = a.bound === "atMost" ? a : b.bound === "atMost" ? b : undefined;
  const least = a.bound === "atLeast" ? a : b.bound === "atLeast" ? b : undefined;
  if (most !== undefined && least !== undefined) {
    return least.low > most.high && apart(least.low, most.high);
  }
  const limit = most ?? least;
  const value = limit === a ? b : a;
  if (limit === undefined) return false;
  return limit === most
    ? value.high > limit.high && apart(value.high, limit.high)
    : value.low < limit.low && apart(value.low, limit.low);
}
