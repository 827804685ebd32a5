/** Units that are converted, so that `0.5 min` is `30 s`. @module */

/** What a unit measures, and how many of that dimension's base unit it is. */
export interface Unit {
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
  // KB and KiB are written for each other: see the tolerance of bytes.
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

/** Powers of ten that stand between a number and its unit. */
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

/** The unit that `word`, in lower case, stands for. */
export function unitOf(word: string): Unit | undefined {
  return UNITS.get(word);
}

/** What `word` multiplies the number before it by. */
export function scaleOf(word: string): number | undefined {
  return Object.hasOwn(SCALES, word) ? SCALES[word] : undefined;
}

/** The number that a word spells. */
export function numberWord(word: string): number | undefined {
  return Object.hasOwn(NUMBER_WORDS, word) ? NUMBER_WORDS[word] : undefined;
}
