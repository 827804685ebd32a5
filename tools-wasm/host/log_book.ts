/** The log lines of one call, within what an answer can hold. @module */
import { LOG_BYTES, LOG_LINES } from "./bounds.ts";

/** Collects lines up to a limit. */
export interface LogBook {
  /** Adds a line. Drops what no longer fits, and the last line says so. */
  add(line: string): void;
  /** Bytes that still fit: longer text need not be decoded. */
  readonly room: number;
  /** All lines, oldest first. */
  lines(): readonly string[];
}

const CUT = "[Remit: more was logged than is kept]";
// UTF-8 bytes of the note, and the end of its line.
const NOTE_BYTES = CUT.length + 1;
const encoder = new TextEncoder();

export function makeLogBook(): LogBook {
  const kept: string[] = [];
  let room = LOG_BYTES - NOTE_BYTES;
  let cut = false;
  return Object.freeze({
    add(line: string): void {
      if (cut) return;
      if (kept.length === LOG_LINES - 1 || line.length >= room) {
        cut = true;
      } else {
        const bytes = encoder.encode(line).length + 1;
        if (bytes > room) cut = true;
        else {
          kept.push(line);
          room -= bytes;
        }
      }
    },
    get room() {
      return room;
    },
    lines: () => cut ? [...kept, CUT] : kept,
  });
}
