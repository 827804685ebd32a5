/** What a program printed, as far as anybody wants to read it. @module */
import { joinBytes } from "../../port/join_bytes.ts";

/** Most bytes that a program may print at all; it is ended past them. */
export const FLOOD_BYTES = 64 * 1024 * 1024;

/** Keeps the beginning and the end of one stream: what failed stands in the last lines. */
export interface Capture {
  hear(chunk: Uint8Array): void;
  /** The text, of whole characters; a line between the two halves says how much is left out. */
  text(): string;
  /** Whether something was left out. */
  cut(): boolean;
}

const NEWLINE = 10;

/** Makes the capture of at most so many bytes and lines; `onFlood` is called once past {@link FLOOD_BYTES}. */
export function makeCapture(
  limits: { readonly bytes: number; readonly lines: number; onFlood(): void },
): Capture {
  // Both hold all that may be shown: whether the middle is left out is known at the end only.
  const head: Uint8Array[] = [];
  let tail: Uint8Array[] = [];
  let headBytes = 0, tailBytes = 0, total = 0, lines = 0, last = NEWLINE;

  /** Whether the whole is more than is shown. */
  const isCut = (): boolean =>
    total > limits.bytes || lines + (last === NEWLINE ? 0 : 1) > limits.lines;

  return Object.freeze({
    hear(chunk: Uint8Array): void {
      if (chunk.length === 0) return;
      const before = total;
      total += chunk.length;
      if (before <= FLOOD_BYTES && total > FLOOD_BYTES) limits.onFlood();
      lines += newlines(chunk);
      last = chunk.at(-1) ?? last;
      const first = chunk.subarray(0, limits.bytes - headBytes);
      if (first.length > 0) head.push(first.slice());
      headBytes += first.length;
      tail.push(chunk.slice());
      tailBytes += chunk.length;
      // Not at each piece: a program may print one byte at a time.
      if (tailBytes <= 2 * limits.bytes + 65_536) return;
      tail = [joinBytes(tail).slice(-limits.bytes)];
      tailBytes = Math.min(tailBytes, limits.bytes);
    },
    text(): string {
      const whole = joinBytes(head);
      if (!isCut()) return new TextDecoder().decode(whole);
      const begins = beginning(whole, limits), ends = ending(joinBytes(tail), limits);
      const left = total - begins.length - ends.length;
      const leftLines = lines - newlines(begins) - newlines(ends);
      const open = begins.length > 0 && begins.at(-1) !== NEWLINE ? "\n" : "";
      return new TextDecoder().decode(begins) + open +
        `[… ${left} bytes left out here${leftLines > 0 ? `, ${leftLines} lines` : ""} …]\n` +
        new TextDecoder().decode(ends);
    },
    cut: isCut,
  });
}

/** What is shown of the beginning: half of it, whole lines where there are such. */
function beginning(
  bytes: Uint8Array,
  limits: { readonly bytes: number; readonly lines: number },
): Uint8Array {
  let end = Math.min(bytes.length, Math.ceil(limits.bytes / 2));
  let lines = Math.ceil(limits.lines / 2);
  for (let at = bytes.indexOf(NEWLINE); at >= 0 && at < end; at = bytes.indexOf(NEWLINE, at + 1)) {
    lines -= 1;
    if (lines === 0) end = at + 1;
  }
  if (end < bytes.length) end = bytes.lastIndexOf(NEWLINE, end - 1) + 1 || whole(bytes, end);
  return bytes.subarray(0, end);
}

/** What is shown of the end. */
function ending(
  bytes: Uint8Array,
  limits: { readonly bytes: number; readonly lines: number },
): Uint8Array {
  let begin = Math.max(0, bytes.length - Math.floor(limits.bytes / 2));
  let lines = Math.floor(limits.lines / 2);
  if (lines === 0) return bytes.subarray(bytes.length);
  for (let at = bytes.lastIndexOf(NEWLINE, bytes.length - 2); at >= begin;) {
    lines -= 1;
    if (lines === 0) begin = at + 1;
    if (at === 0) break;
    at = bytes.lastIndexOf(NEWLINE, at - 1);
  }
  const next = begin === 0 ? 0 : bytes.indexOf(NEWLINE, begin - 1) + 1;
  if (next > 0 && next < bytes.length) return bytes.subarray(next);
  while (begin < bytes.length && isContinued(bytes[begin])) begin++;
  return bytes.subarray(begin);
}

/** The offset at or before `end` at which a character begins. */
function whole(bytes: Uint8Array, end: number): number {
  let at = end;
  while (at > 0 && isContinued(bytes[at])) at--;
  return at;
}

/** Bytes 10xxxxxx continue a character. */
function isContinued(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}

function newlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
