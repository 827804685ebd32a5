/** Collects lines into chunks of a suitable size, cut at the text's own divisions. @module */
import type { NewChunk } from "../store/wiki_store.ts";

/** Characters below which a chunk is not closed for its size. */
const MIN_CHUNK = 200;
/** Characters from which a chunk is closed at the next division. */
const FULL_CHUNK = 800;
/** Maximum characters of a chunk. */
const MAX_CHUNK = 1_200;
/** Bytes per piece of a line that is too long for one chunk. */
const PIECE_BYTES = 1_100;
const MAX_HEADINGS = 8;
const MAX_HEADING = 120;

/** Collects lines into chunks. */
export interface Cutter {
  /** Sets the headings above the following lines, outermost first. */
  under(path: readonly string[]): void;
  /** Adds a line; `headingLine` for a line that needs the following ones. */
  add(line: ByteLine, headingLine?: boolean): void;
  /** A possible end: closes a chunk that is large enough. */
  divide(): void;
  /** Closes the chunk; headings without content remain for the next one. */
  section(): void;
  /** Closes the chunk and drops headings without content, whose words are in the path. */
  alone(): void;
  /** Characters collected so far. */
  size(): number;
  /** Closes the last chunk. */
  end(): void;
}

export interface CutterParts {
  readonly bytes: Uint8Array;
  termsOf(text: string): readonly string[];
  /** The title, whose terms are added to those of each heading. */
  title(): string;
  readonly chunks: NewChunk[];
}

/** Makes a cutter that appends to `chunks`. */
export function makeCutter({ bytes, termsOf, title, chunks }: CutterParts): Cutter {
  let lines: ByteLine[] = [];
  let characters = 0;
  let content = false;
  /** Number and characters of `lines` before the last division. */
  let [dividedAt, dividedCharacters] = [0, 0];
  let path: readonly string[] = [];
  let own: readonly string[] = [];
  let known = { key: "", terms: "" };

  function headingTerms(heading: string): string {
    const key = `${title()}\n${heading}`;
    if (known.key !== key) known = { key, terms: termsOf(key).join(" ") };
    return known.terms;
  }

  function put(text: string, first: ByteLine, last: ByteLine, start: number, end: number): void {
    const heading = own.slice(0, MAX_HEADINGS).map(headingText).join(" > ");
    chunks.push({
      startLine: first.number,
      endLine: last.number,
      startByte: start,
      endByte: end,
      heading,
      terms: termsOf(text).join(" "),
      headingTerms: headingTerms(heading),
    });
  }

  /** Closes a chunk after the first `count` lines; the others remain. */
  function cut(count: number): void {
    const taken = lines.slice(0, count);
    lines = lines.slice(count);
    characters = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
    [dividedAt, dividedCharacters] = [0, 0];
    const filled = taken.filter(({ text }) => text.trim() !== "");
    const [first, last] = [filled[0], filled.at(-1)];
    if (first !== undefined && last !== undefined) {
      const from = taken.indexOf(first);
      const text = taken.slice(from, taken.indexOf(last) + 1).map((line) => line.text).join("\n");
      put(text, first, last, first.start, last.end);
    }
    content = lines.length > 0;
    own = path;
  }

  function longLine(line: ByteLine): void {
    cut(lines.length);
    own = path;
    for (const { text, start, end } of piecesOfLine(bytes, line, PIECE_BYTES)) {
      if (text.trim() !== "") put(text, line, line, start, end);
    }
  }

  return Object.freeze<Cutter>({
    under(next): void {
      path = next;
      if (!content || own.length === 0) own = next;
    },
    add(line, headingLine = false): void {
      if (line.text.length > MAX_CHUNK || line.end - line.start > 4 * MAX_CHUNK) {
        return longLine(line);
      }
      if (characters + line.text.length > MAX_CHUNK) {
        cut(dividedCharacters >= MIN_CHUNK ? dividedAt : lines.length);
        if (characters + line.text.length > MAX_CHUNK) cut(lines.length);
      }
      if (!content && !headingLine) {
        content = true;
        own = path;
      }
      lines.push(line);
      characters += line.text.length + 1;
    },
    divide(): void {
      if (characters >= FULL_CHUNK) return cut(lines.length);
      [dividedAt, dividedCharacters] = [lines.length, characters];
    },
    section(): void {
      if (content) cut(lines.length);
    },
    alone(): void {
      if (content) return cut(lines.length);
      lines = [];
      characters = 0;
      [dividedAt, dividedCharacters] = [0, 0];
    },
    size: () => characters,
    end: () => cut(lines.length),
  });
}

function headingText(text: string): string {
  return text.slice(0, MAX_HEADING).toWellFormed().replaceAll(" > ", " › ");
}

// Bytes as lines: decoded in batches, with the byte range of each line.

/** A line of a text. */
export interface ByteLine {
  /** Without its newline; of a giant line only the beginning. */
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** Range in the raw bytes, end exclusive, without the newline. */
  readonly start: number;
  readonly end: number;
}

/** Longer lines are decoded in part; see {@link piecesOfLine}. */
const GIANT = 8_192;
const LINE_FEED = 10;
const BATCH = 262_144;
const BOM = "\ufeff";

/**
 * Calls `take` with each line and returns their number. Invalid UTF-8 becomes U+FFFD; ranges remain those of
 * the bytes.
 */
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
    // An invalid sequence never includes a newline, so lines and ranges match.
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

/** Cuts a line into pieces of at most `max` bytes, between words if possible. */
function* piecesOfLine(
  bytes: Uint8Array,
  line: { readonly start: number; readonly end: number },
  max: number,
): Generator<{ readonly text: string; readonly start: number; readonly end: number }> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: false });
  for (let start = line.start; start < line.end;) {
    const end = line.end - start <= max ? line.end : boundary(bytes, start, start + max);
    yield { text: decoder.decode(bytes.subarray(start, end)), start, end };
    start = end;
  }
}

const SPACE = 32;
const COMMA = 44;
const STOPS: ReadonlySet<number> = new Set([33, 46, 59, 63, 125]);

/** A place to cut between `start` and `max`: after a sentence, else a word, else a character. */
function boundary(bytes: Uint8Array, start: number, max: number): number {
  const min = start + Math.floor((max - start) / 2);
  let word = 0;
  for (let at = max; at > min; at -= 1) {
    const [before, here] = [bytes[at - 1] ?? 0, bytes[at] ?? 0];
    if (here === SPACE && STOPS.has(before)) return at;
    if (word === 0 && (here === SPACE || before === COMMA)) word = at;
  }
  if (word > 0) return word;
  let at = max;
  while (max - at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return ((bytes[at] ?? 0) & 0xc0) === 0x80 ? max : at;
}
