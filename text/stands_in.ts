/**
 * Whether a value stands in a person's own words: whole, with its type; a date also where the words describe it ("next
 * Friday"). The answer decides what a call may carry without a question, so a doubtful value does not stand.
 * @module
 */

/** A person's words, and when the person said them. */
export interface SaidWords {
  readonly text: string;
  /** Milliseconds since 1970; absent: only whole dates are resolved. */
  readonly at?: number;
}

/** A value of a call's arguments. */
export type Literal = string | number | boolean | null;

/** A value must not be part of a longer one: `evil.example` does not stand in `not-evil.example`. */
const BEFORE = /(?:^|[\s"'`(<[{,;:=$€£¥])$/u;
const AFTER = /^(?:$|[\s"'`)>\]},;:!?€£¥%]|\.(?:\s|$))/u;
const NUMBER = /-?\d+(?:,\d{3})*(?:\.\d+)?/gu;
/** Neither the `5` nor the `30` of `5:30` counts as a number. */
const CLOCK_AFTER = /^:\d/u;
const CLOCK_BEFORE = /\d:$/u;
const DIGITS = /^-?\d+(?:\.\d+)?$/u;

/**
 * A test whether a value stands in any of the person's words; a moment also where a start and a duration add up to it
 * ("at 12:00 for one hour"). `folded`: ignores letter case.
 */
export function makeStandsIn(
  spoken: readonly SaidWords[],
  { folded = false }: { readonly folded?: boolean } = {},
): (value: Literal) => boolean {
  const fold = (text: string): string => folded ? text.normalize().toLowerCase() : text.normalize();
  const read = spoken.map(({ text, at }) => {
    const words = fold(text);
    const days = daysIn(words, at);
    const times = timesIn(words), spans = spansIn(words);
    return { words, days, numbers: numbersIn(words, days.spans), times, spans };
  });
  return (value) => {
    if (typeof value === "number") return read.some(({ numbers }) => numbers.has(value));
    if (typeof value !== "string" || value.trim() === "") return false;
    const wanted = fold(value);
    return read.some(({ words, days, numbers, times, spans }) =>
      (within(words, wanted) && (!DIGITS.test(wanted) || numbers.has(Number(wanted)))) ||
      isMoment(wanted, { days: days.days, times, spans })
    );
  };
}

/** {@link makeStandsIn} of one text, for one value. */
export function standsIn(text: string, value: Literal): boolean {
  return makeStandsIn([{ text }])(value);
}

/** Occurrences of a value that are tried: a value that occurs more often identifies nothing. */
const MAX_TRIES = 256;

function isWhole(text: string, from: number, to: number): boolean {
  return BEFORE.test(text.slice(Math.max(0, from - 2), from)) && AFTER.test(text.slice(to, to + 2));
}

function within(text: string, wanted: string): boolean {
  let at = text.indexOf(wanted);
  for (let n = 0; at >= 0 && n < MAX_TRIES; n++, at = text.indexOf(wanted, at + 1)) {
    if (isWhole(text, at, at + wanted.length)) return true;
  }
  return false;
}

type Span = readonly [from: number, to: number];

/** Numbers in a text, without the parts of dates and times. */
function numbersIn(text: string, spans: readonly Span[]): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const { 0: found, index } of text.matchAll(NUMBER)) {
    const end = index + found.length;
    if (!isWhole(text, index, end) || CLOCK_AFTER.test(text.slice(end, end + 2))) continue;
    if (CLOCK_BEFORE.test(text.slice(Math.max(0, index - 2), index))) continue;
    if (spans.some(([from, to]) => from <= index && end <= to)) continue;
    numbers.add(Number(found.replaceAll(",", "")));
  }
  return numbers;
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const WEEKDAYS = "sun mon tue wed thu fri sat".split(" ");
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const YEAR = "(?:,?\\s+(\\d{4}))?";
const WEEKDAY =
  "(sun(?:day)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?)";
const DAY_MS = 86_400_000;

/** Days that a text names, as `YYYY-MM-DD`, with their places. Relative days and days without a year need `at`. */
function daysIn(
  text: string,
  at: number | undefined,
): { readonly days: ReadonlySet<string>; readonly spans: readonly Span[] } {
  const days = new Set<string>(), spans: Span[] = [];
  const add = (found: RegExpExecArray, day: string | undefined): void => {
    spans.push([found.index, found.index + found[0].length]);
    if (day !== undefined) days.add(day);
  };
  const each = (pattern: string, dayOf: (found: RegExpExecArray) => string | undefined): void => {
    for (const found of text.matchAll(new RegExp(`(?<![\\w-])${pattern}(?![\\w-])`, "giu"))) {
      add(found, dayOf(found));
    }
  };
  const years = new Set(text.match(/(?<![\d.,-])(?:19|20|21)\d\d(?![\d.,]\d|-\d)/gu));
  const [only] = years;
  const named = (day: string, month: string, written: string | undefined): string | undefined => {
    const n = MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
    // "from January 11th to January 15th 2025": one year for both.
    const year = written ?? (years.size === 1 ? only : undefined);
    if (year !== undefined) return dayOf(Number(year), n, Number(day));
    if (at === undefined) return undefined;
    // The next such day: a person who means a past one names the year.
    const now = new Date(at), today = now.toISOString().slice(0, 10);
    const here = dayOf(now.getUTCFullYear(), n, Number(day));
    return here === undefined || here >= today
      ? here
      : dayOf(now.getUTCFullYear() + 1, n, Number(day));
  };
  each("(\\d{4})-(\\d\\d)-(\\d\\d)", ([, y, m, d]) => dayOf(Number(y), Number(m), Number(d)));
  each(
    "(\\d{1,2})\\.(\\d{1,2})\\.(\\d{4})",
    ([, d, m, y]) => dayOf(Number(y), Number(m), Number(d)),
  );
  each(`${MONTH}\\s+${DAY}${YEAR}`, ([, m = "", d = "", y]) => named(d, m, y));
  each(`${DAY}\\s+(?:of\\s+)?${MONTH}${YEAR}`, ([, d = "", m = "", y]) => named(d, m, y));
  if (at === undefined) return { days, spans };
  const later = (n: number): string => new Date(at + n * DAY_MS).toISOString().slice(0, 10);
  each("today", () => later(0));
  each("tomorrow", () => later(1));
  each(`(?:on|this|next)\\s+${WEEKDAY}`, ([whole, name = ""]) => {
    const ahead =
      (WEEKDAYS.indexOf(name.slice(0, 3).toLowerCase()) - new Date(at).getUTCDay() + 7) % 7 || 7;
    // "next Friday" said on a Tuesday may be either Friday: an ambiguous day counts as none.
    return /^next/i.test(whole) && ahead < 5 ? undefined : later(ahead);
  });
  return { days, spans };
}

/** `YYYY-MM-DD`; undefined for a day that does not exist. */
function dayOf(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const there = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return there && year >= 1_000 ? date.toISOString().slice(0, 10) : undefined;
}

/** Times of the day that a text names, as `HH:MM`. */
function timesIn(text: string): ReadonlySet<string> {
  const times = new Set<string>();
  const add = (hour: number, minute: string): void => {
    if (hour < 24) times.add(`${String(hour).padStart(2, "0")}:${minute}`);
  };
  const clock = /(?<![\w.:-])(\d{1,2})(?::([0-5]\d))?(?:\s?([ap])\.?m\b\.?)?(?![\w:])/giu;
  for (const [, hour = "", minute, half] of text.matchAll(clock)) {
    if (minute === undefined && half === undefined) continue;
    const plus = half?.toLowerCase() === "p" ? 12 : 0;
    add(half === undefined ? Number(hour) : Number(hour) % 12 + plus, minute ?? "00");
  }
  if (/\bnoon\b/iu.test(text)) add(12, "00");
  return times;
}

const HOUR_MS = 3_600_000;
const COUNTS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

/** Durations that a text names, ms: "one hour", "30 minutes", "half an hour". */
function spansIn(text: string): ReadonlySet<number> {
  const spans = new Set<number>();
  const named = new RegExp(
    `(?<![\\w.])(\\d{1,3}|an?|${COUNTS.join("|")})[ -](hours?|minutes?)(?!\\w)`,
    "giu",
  );
  for (const [, count = "", unit = ""] of text.matchAll(named)) {
    const word = COUNTS.indexOf(count.toLowerCase());
    const n = /^an?$/iu.test(count) ? 1 : word >= 0 ? word : Number(count);
    spans.add(n * (/^h/iu.test(unit) ? HOUR_MS : HOUR_MS / 60));
  }
  if (/\bhalf an hour\b/iu.test(text)) spans.add(HOUR_MS / 2);
  return spans;
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::00(?:\.0+)?)?)?$/u;

function isMoment(
  value: string,
  { days, times, spans }: {
    readonly days: ReadonlySet<string>;
    readonly times: ReadonlySet<string>;
    readonly spans: ReadonlySet<number>;
  },
): boolean {
  const [, day = "", time] = MOMENT.exec(value) ?? [];
  if (day === "") return false;
  if (days.has(day) && (time === undefined || times.has(time))) return true;
  if (time === undefined) return false;
  const end = Date.parse(`${day}T${time}Z`);
  return [...spans].some((span) => {
    if (span === 0 || Number.isNaN(end)) return false;
    const [from = "", at = ""] = new Date(end - span).toISOString().slice(0, 16).split("T");
    return days.has(from) && times.has(at);
  });
}
