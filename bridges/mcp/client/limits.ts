/** What the bridge takes of one server, and no more. @module */
import type { Clock } from "./calls.ts";

/** Levels of arrays and objects in one message; the port takes 64, of which its frame needs some. */
export const MESSAGE_DEPTH = 48;
/** Values in one message. */
export const MESSAGE_NODES = 400_000;
/** UTF-16 units of all parts of one result; the port's frame holds them with room for escapes. */
export const RESULT_UNITS = 12_000_000;
/** Parts of one result. */
export const RESULT_PARTS = 1_000;
/** UTF-16 units of everything that a server says of itself. */
export const WORDS_UNITS = 8_000_000;
/** Values in everything that a server says of itself. */
export const WORDS_NODES = 600_000;
/** Pages of one list. */
export const PAGES = 64;
/** Milliseconds for all lists together. */
export const WORDS_MS = 30_000;
/** Requests of the server that wait for us at once. */
export const SERVER_REQUESTS = 8;
/** Notifications that are looked at in a second; the others are dropped. */
export const NOTIFICATIONS_A_SECOND = 200;
/** Messages on their way to a server that does not take them. */
export const UNSENT = 256;
/** UTF-16 units of them, beside one message that may be larger. */
export const UNSENT_UNITS = 16_000_000;
/** UTF-16 units of a server's error message that are passed on. */
export const ERROR_UNITS = 2_000;
/** Longest method, and longest id, that a message may have. */
export const NAME_UNITS = 256;

/** At most `units` UTF-16 units of `text`, never half a character; an ellipsis says that some are gone. */
export function cutText(text: string, units: number): string {
  if (text.length <= units) return text;
  const high = text.charCodeAt(units - 2);
  const end = high >= 0xd800 && high < 0xdc00 ? units - 2 : units - 1;
  return `${text.slice(0, end)}…`;
}

/** A server's name for something, as our sentences quote it. */
export function quoted(name: unknown): string {
  return typeof name === "string" ? JSON.stringify(cutText(name, 80)) : `a ${typeof name}`;
}

/** Reports a violation in one sentence, which may quote the server: it is made safe where it is shown. */
export type ReportViolation = (what: string) => void;

const A_SECOND = 20;
const UNITS = 240;

/** Makes the way for violations: those past twenty a second are counted, and the next one tells how many. */
export function makeReport(tell: ReportViolation, clock: Pick<Clock, "now">): ReportViolation {
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
