/** Protocol violations, counted and told: at most twenty a second. contracts/wire_mcp.ts, `odd`. @module */
import type { Clock } from "./clock.ts";
import { cutText } from "./cut.ts";

/** Takes a violation in one sentence. It may quote the server: whoever shows it makes it safe. */
export type Odd = (what: string) => void;

const A_SECOND = 20;
const UNITS = 240;

/** Makes the way for violations: those past twenty a second are counted, and the next one tells how many. */
export function makeOdd(tell: (what: string) => void, clock: Pick<Clock, "now">): Odd {
  let since = -Infinity, told = 0, left = 0;
  return (what) => {
    const now = clock.now();
    if (now - since >= 1_000) {
      since = now;
      told = 0;
    }
    if (told >= A_SECOND) return void left++;
    told++;
    const before = left === 0 ? "" : ` (after ${left} more)`;
    left = 0;
    tell(`${cutText(what, UNITS)}${before}`);
  };
}
