/** Bytes as lines: decoded in batches, with the range of raw bytes that each took. @module */

/** One line of a text. */
export interface ByteLine {
  /** Without its line feed; of a giant line only the beginning. */
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** Of the raw bytes, end exclusive, without the line feed. */
  readonly start: number;
  readonly end: number;
}

/** A line of more bytes is decoded in part only: see {@link piecesOfLine}. */
const GIANT = 8_192;
const LINE_FEED = 10;
const BATCH = 262_144;
const BOM = "\ufeff";

/** Calls `take` with each line and gives how many there were. Broken UTF-8 becomes U+FFFD; ranges stay those of the bytes. */
export function eachLine(bytes: Uint8Array, take: (line: ByteLine) => void): number {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let number = 0;
  let ranges: { readonly start: number; readonly end: number }[] = [];

  function say(text: string, start: number, end: number): void {
    number += 1;
    const own = number === 1 && text.startsWith(BOM) ? text.slice(1) : text;
    take({ text: own.endsWith("\r") ? own.slice(0, -1) : own, number, start, end });
  }

  function decode(): void {
    const first = ranges[0];
    const last = ranges.at(-1);
    if (first === undefined || last === undefined) return;
    // A broken character never takes a line feed with it, so that lines and ranges stay side by side.
    const texts = decoder.decode(bytes.subarray(first.start, last.end)).split("\n");
    for (const [index, { start, end }] of ranges.entries()) say(texts[index] ?? "", start, end);
    ranges = [];
  }

  for (let at = 0; at < bytes.length;) {
    const feed = bytes.indexOf(LINE_FEED, at);
    const end = feed < 0 ? bytes.length : feed;
    if (end - at > GIANT) {
      decode();
      say(decoder.decode(bytes.subarray(at, boundary(bytes, at, at + GIANT / 2))), at, end);
    } else {
      ranges.push({ start: at, end });
      if (end - (ranges[0]?.start ?? at) > BATCH) decode();
    }
    at = end + 1;
  }
  decode();
  return number;
}

/** Cuts one line into pieces of at most `most` bytes, between words where there are any. */
export function* piecesOfLine(
  bytes: Uint8Array,
  line: { readonly start: number; readonly end: number },
  most: number,
): Generator<{ readonly text: string; readonly start: number; readonly end: number }> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: false });
  for (let start = line.start; start < line.end;) {
    const end = line.end - start <= most ? line.end : boundary(bytes, start, start + most);
    yield { text: decoder.decode(bytes.subarray(start, end)), start, end };
    start = end;
  }
}

const SPACE = 32;
const COMMA = 44;
const STOPS: ReadonlySet<number> = new Set([33, 46, 59, 63, 125]);

/** A good place to cut at or before `most`, after `start`: after a sentence, else a word, else a character. */
function boundary(bytes: Uint8Array, start: number, most: number): number {
  const least = start + Math.floor((most - start) / 2);
  let word = 0;
  for (let at = most; at > least; at -= 1) {
    const [before, here] = [bytes[at - 1] ?? 0, bytes[at] ?? 0];
    if (here === SPACE && STOPS.has(before)) return at;
    if (word === 0 && (here === SPACE || before === COMMA)) word = at;
  }
  if (word > 0) return word;
  let at = most;
  while (most - at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return ((bytes[at] ?? 0) & 0xc0) === 0x80 ? most : at;
}
