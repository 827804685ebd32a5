/** Parses a time: how long ago, or a date. @module */
import { Fault } from "../../contracts/base/mod.ts";

/** Milliseconds in each unit of a span of time, such as `30m`. */
export const SPAN_UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Parses `2h` or a date into milliseconds since 1970; a time without a zone is UTC, as in the log. Throws `invalidInput`.
 */
export function parseSince(text: string, now: number): number {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago !== null) return Math.max(0, now - Number(ago[1]) * (SPAN_UNITS[ago[2] ?? ""] ?? 0));
  // Date.parse alone would read "10" as a month of 2001.
  const [, day, time = "00:00", zone = "Z"] = DATE.exec(text) ?? [];
  const at = day === undefined ? NaN : Date.parse(`${day}T${time}${zone}`);
  const sameDay = day === new Date(Date.parse(`${day}T00:00Z`) || 0).toISOString().slice(0, 10);
  if (Number.isNaN(at) || !sameDay) {
    throw new Fault(
      "invalidInput",
      `Cannot read "${text}": write 30m, 2h, 7d, or a date, as in 2026-11-24 or 2026-11-24T09:30`,
    );
  }
  return Math.max(0, at);
}
