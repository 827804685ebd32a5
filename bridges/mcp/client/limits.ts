/** Limits on what a bridge accepts from its server. Units are UTF-16 code units. @module */
import type { Clock } from "./calls.ts";

/** Nesting of one message; the port's limit is 64, and its frame takes some levels. */
export const MAX_MESSAGE_DEPTH = 48;
/** Values in one message. */
export const MAX_MESSAGE_NODES = 400_000;
/** Units of all parts of one result; the port's frame holds them with room for escapes. */
export const MAX_RESULT_UNITS = 12_000_000;
/** Parts of one result. */
export const MAX_RESULT_PARTS = 1_000;
/** Units of a server's whole listing. */
export const MAX_LISTING_UNITS = 8_000_000;
/** Values in a server's whole listing. */
export const MAX_LISTING_NODES = 600_000;
/** Pages of one list. */
export const MAX_PAGES = 64;
/** Milliseconds for all lists together. */
export const LISTING_MS = 30_000;
/** Requests of the server that may wait for an answer at once. */
export const MAX_SERVER_REQUESTS = 8;
/** Notifications handled in a second; the others are dropped. */
export const MAX_NOTIFICATIONS_A_SECOND = 200;
/** Messages waiting for a server that does not read. */
export const MAX_UNSENT = 256;
/** Units of these messages; a single message may be larger. */
export const MAX_UNSENT_UNITS = 16_000_000;
/** Units of a server's error message that are passed on. */
export const MAX_ERROR_UNITS = 2_000;
/** Units of a method's name, and of an id. */
export const MAX_NAME_UNITS = 256;

/** Cuts `text` to `units` UTF-16 units, never inside a character; `…` marks the cut. */
export function cutText(text: string, units: number): string {
  if (text.length <= units) return text;
  const high = text.charCodeAt(units - 2);
  const end = high >= 0xd800 && high < 0xdc00 ? units - 2 : units - 1;
  return `${text.slice(0, end)}…`;
}

/** A name from a server, quoted for a sentence of Remit's. */
export function quoted(name: unknown): string {
  return typeof name === "string" ? JSON.stringify(cutText(name, 80)) : `a ${typeof name}`;
}

/** Reports a protocol violation in one sentence. It may quote the server: escape it before showing. */
export type ReportViolation = (what: string) => void;

const MAX_REPORTS_A_SECOND = 20;
const MAX_REPORT_UNITS = 240;

/** Limits reports to twenty a second; the next report after a pause tells how many were dropped. */
export function makeReport(tell: ReportViolation, clock: Pick<Clock, "now">): ReportViolation {
  let since = -Infinity, told = 0, dropped = 0;
  return (what) => {
    const now = clock.now();
    if (now - since >= 1_000) {
      since = now;
      told = 0;
    }
    if (told >= MAX_REPORTS_A_SECOND) return void dropped++;
    told++;
    const note = dropped === 0 ? "" : ` (after ${dropped} more)`;
    dropped = 0;
    tell(`${cutText(what, MAX_REPORT_UNITS)}${note}`);
  };
}
