/** `date`, in UTC: a program here knows no place. @module */
import { UsageError } from "./faults.ts";
import { readOptions } from "./options.ts";
import type { Program } from "./program.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
];

/** Prints the time. */
export const date: Program = {
  usage: "[-u] [-I | -R] [-d TIME] [+FORMAT]   (TIME: @SECONDS or YYYY-MM-DD[THH:MM[:SS]Z])",
  async run({ words, output, remit }) {
    const given = readOptions(words, {
      ...{ u: false, utc: false, I: false, R: false, d: true, date: true },
    });
    const [format, ...more] = given.operands;
    if (more.length > 0 || (format !== undefined && !format.startsWith("+"))) {
      throw new UsageError("one operand, +FORMAT; nobody sets the time here");
    }
    const told = given.value("d") ?? given.value("date");
    const clock = told === undefined ? await remit.clock() : readTime(told);
    const now = new Date(typeof clock === "number" ? clock : clock.now);
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
  if (Number.isNaN(millis)) throw new UsageError(`no such time: ${JSON.stringify(text)}`);
  return millis;
}

/** A time as `strftime` writes it, in English and UTC. Unknown letters stay as they are. */
function formatTime(time: Date, format: string): string {
  const two = (number: number, pad = "0"): string => String(number).padStart(2, pad);
  const year = time.getUTCFullYear(), month = time.getUTCMonth(), day = time.getUTCDate();
  const hour = time.getUTCHours(), minute = time.getUTCMinutes(), second = time.getUTCSeconds();
  const dayOfYear = (Date.UTC(year, month, day) - Date.UTC(year, 0, 1)) / 86_400_000 + 1;
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
    p: () => hour < 12 ? "AM" : "PM",
    a: () => (DAYS[time.getUTCDay()] ?? "").slice(0, 3),
    A: () => DAYS[time.getUTCDay()] ?? "",
    b: () => (MONTHS[month] ?? "").slice(0, 3),
    B: () => MONTHS[month] ?? "",
    j: () => String(dayOfYear).padStart(3, "0"),
    u: () => String(time.getUTCDay() || 7),
    w: () => String(time.getUTCDay()),
    s: () => String(Math.floor(time.getTime() / 1_000)),
    F: () => formatTime(time, "%Y-%m-%d"),
    T: () => formatTime(time, "%H:%M:%S"),
    R: () => formatTime(time, "%H:%M"),
    Z: () => "UTC",
    z: () => "+0000",
    n: () => "\n",
    t: () => "\t",
    "%": () => "%",
  };
  return format.replaceAll(
    /%([A-Za-z%])/g,
    (whole, letter: string) => Object.hasOwn(parts, letter) ? parts[letter]?.() ?? whole : whole,
  );
}
