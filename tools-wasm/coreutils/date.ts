/** `date`, in UTC: a program here has no location. @module */
import { UsageError } from "./faults.ts";
import { readOptions } from "./options.ts";
import type { Program } from "./program.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
];

/** In milliseconds. */
const DAY = 86_400_000;

/** Prints the time. */
export const date: Program = {
  usage: "[-u] [-I | -R] [-d TIME] [+FORMAT]   (TIME: @SECONDS or YYYY-MM-DD[THH:MM[:SS]Z])",
  async run({ words, output, remit }) {
    const given = readOptions(words, {
      ...{ u: false, utc: "u", I: false, R: false, "rfc-email": "R", d: true, date: "d" },
    });
    const [format, ...more] = given.operands;
    if (more.length > 0 || (format !== undefined && !format.startsWith("+"))) {
      throw new UsageError("one operand, +FORMAT; nobody sets the time here");
    }
    const time = given.value("d");
    const now = new Date(time === undefined ? await remit.clock() : readTime(time));
    const pattern = format?.slice(1) ??
      (given.has("I") ? "%F" : given.has("R") ? "%a, %d %b %Y %T %z" : "%a %b %e %T %Z %Y");
    output.line(formatTime(now, pattern));
    return 0;
  },
};

function readTime(text: string): number {
  const seconds = /^@(-?[0-9]{1,12})$/.exec(text)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1_000;
  const day = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text);
  const time = /^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?Z?$/;
  if (!day && !time.test(text)) {
    throw new UsageError(`not a time: ${JSON.stringify(text.slice(0, 40))}`);
  }
  const utc = day ? `${text}T00:00:00Z` : `${text.replace(" ", "T").replace(/Z$/, "")}Z`;
  const millis = Date.parse(utc);
  // An engine may read 30 February as 2 March, and 24:00 as the next day.
  const same = !Number.isNaN(millis) &&
    new Date(millis).toISOString().slice(0, 16) === utc.slice(0, 16);
  if (!same) throw new UsageError(`no such time: ${JSON.stringify(text)}`);
  return millis;
}

/** The Thursday of a day's week, whose year is the week's year in ISO 8601. */
function thursdayOf(time: Date): Date {
  const day = Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate());
  return new Date(day + (4 - (time.getUTCDay() || 7)) * DAY);
}

/** Formats a time like `strftime`, in English and UTC. Unknown letters stay, as in GNU's. */
function formatTime(time: Date, format: string): string {
  const two = (number: number, pad = "0"): string => String(number).padStart(2, pad);
  const year = time.getUTCFullYear(), month = time.getUTCMonth(), day = time.getUTCDate();
  const hour = time.getUTCHours(), minute = time.getUTCMinutes(), second = time.getUTCSeconds();
  const dayOf = (at: Date): number =>
    Math.floor((at.getTime() - Date.UTC(at.getUTCFullYear(), 0, 1)) / DAY) + 1;
  const dayOfYear = dayOf(time), weekday = time.getUTCDay(), thursday = thursdayOf(time);
  const parts: Readonly<Record<string, () => string>> = {
    Y: () => String(year).padStart(4, "0"),
    y: () => two(year % 100),
    m: () => two(month + 1),
    d: () => two(day),
    e: () => two(day, " "),
    H: () => two(hour),
    I: () => two(hour % 12 || 12),
    M: () => two(minute),
    S: () => two(second),
    N: () => String(time.getUTCMilliseconds()).padStart(3, "0") + "000000",
    k: () => two(hour, " "),
    l: () => two(hour % 12 || 12, " "),
    p: () => hour < 12 ? "AM" : "PM",
    P: () => hour < 12 ? "am" : "pm",
    a: () => (DAYS[weekday] ?? "").slice(0, 3),
    A: () => DAYS[weekday] ?? "",
    b: () => (MONTHS[month] ?? "").slice(0, 3),
    h: () => (MONTHS[month] ?? "").slice(0, 3),
    B: () => MONTHS[month] ?? "",
    j: () => String(dayOfYear).padStart(3, "0"),
    q: () => String(Math.floor(month / 3) + 1),
    u: () => String(weekday || 7),
    w: () => String(weekday),
    C: () => two(Math.floor(year / 100)),
    G: () => String(thursday.getUTCFullYear()).padStart(4, "0"),
    g: () => two(thursday.getUTCFullYear() % 100),
    V: () => two(Math.ceil(dayOf(thursday) / 7)),
    U: () => two(Math.floor((dayOfYear + 6 - weekday) / 7)),
    W: () => two(Math.floor((dayOfYear + 6 - (weekday + 6) % 7) / 7)),
    s: () => String(Math.floor(time.getTime() / 1_000)),
    c: () => formatTime(time, "%a %b %e %T %Y"),
    D: () => formatTime(time, "%m/%d/%y"),
    x: () => formatTime(time, "%m/%d/%y"),
    F: () => formatTime(time, "%Y-%m-%d"),
    X: () => formatTime(time, "%T"),
    r: () => formatTime(time, "%I:%M:%S %p"),
    T: () => formatTime(time, "%H:%M:%S"),
    R: () => formatTime(time, "%H:%M"),
    Z: () => "UTC",
    z: () => "+0000",
    n: () => "\n",
    t: () => "\t",
    "%": () => "%",
  };
  return format.replaceAll(/%([-_0^])?([A-Za-z%])/g, (whole, flag: string, letter: string) => {
    const part = Object.hasOwn(parts, letter) ? parts[letter]?.() : undefined;
    if (part === undefined) return whole;
    if (flag === "^") return part.toUpperCase();
    const number = /^[ 0]+(?=[0-9])/;
    if (flag === "-") return part.replace(number, "");
    if (flag === "_") return part.replace(number, (zeros) => " ".repeat(zeros.length));
    return flag === "0" ? part.replace(number, (blanks) => "0".repeat(blanks.length)) : part;
  });
}
