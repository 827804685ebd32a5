/** A time as a person gives it: how long ago, or a date. @module */
import { Fault } from "../../contracts/mod.ts";

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads `2h` or a date as milliseconds since 1970. Throws `invalidInput`. */
export function parseSince(text: string, now: number): number {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago !== null) return Math.max(0, now - Number(ago[1]) * (UNITS[ago[2] ?? ""] ?? 0));
  const at = Date.parse(text);
  if (Number.isNaN(at)) {
    throw new Fault("invalidInput", `Cannot read "${text}": write 30m, 2h, 7d, or a date`);
  }
  return Math.max(0, at);
}
