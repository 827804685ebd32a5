/**
 * Splits bytes into lines, and the texts that lines announce, with a limit of their length. Used by
 * port.ts.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";
import { encode } from "./_bound.ts";

const NEWLINE = 10;
/** `+units` before a line: the number of UTF-16 code units of the text after it. */
const ANNOUNCED = /^\+([1-9][0-9]{0,8})(?=\[)/;

/** Takes a line without its newline, and the announced text. Returns false to stop. */
type OnLine = (line: string, text: string | undefined) => boolean;

/** Makes a reader of one stream's bytes. A line or text above `frameBytes` is a fault. */
export function makeLineReader(frameBytes: number, onLine: OnLine): (chunk: Uint8Array) => void {
  // ignoreBOM keeps a byte order mark as a character, which no frame starts with.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest = ""; // the beginning of an unfinished line or text
  let restBytes = 0; // bytes since the last newline
  let announcing: string | undefined; // the line whose text is being read
  let units = 0; // length of that text

  return (chunk) => {
    // Only a chunk that could exceed the limit is searched twice.
    if (restBytes + chunk.length > frameBytes) refuseLongLines(chunk, restBytes, frameBytes);
    const last = chunk.lastIndexOf(NEWLINE);
    restBytes = last < 0 ? restBytes + chunk.length : chunk.length - 1 - last;
    const text = decode(decoder, chunk);
    for (let start = 0;;) {
      const end = announcing === undefined
        ? text.indexOf("\n", start)
        : start + units - rest.length;
      if (end < 0 || end >= text.length) {
        rest += text.slice(start);
        return;
      }
      const whole = rest + text.slice(start, end);
      rest = "";
      start = end + 1;
      if (announcing !== undefined) {
        if (text[end] !== "\n") throw new Fault("badFrame", "Cannot read frame: its text goes on");
        const line = announcing;
        announcing = undefined;
        if (!onLine(line, whole)) return;
        continue;
      }
      const announced = ANNOUNCED.exec(whole);
      if (announced === null) {
        if (!onLine(whole, undefined)) return;
        continue;
      }
      announcing = whole.slice(announced[0].length);
      units = Number(announced[1]);
      if (announcing.length + units > frameBytes) throw tooLong(frameBytes);
    }
  };
}

function decode(decoder: TextDecoder, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch (cause) {
    throw new Fault("badFrame", "Cannot read frame: not UTF-8", { cause });
  }
}

function refuseLongLines(chunk: Uint8Array, before: number, frameBytes: number): void {
  let length = before;
  let start = 0;
  for (;;) {
    const end = chunk.indexOf(NEWLINE, start);
    length += (end < 0 ? chunk.length : end) - start;
    if (length > frameBytes) throw tooLong(frameBytes);
    if (end < 0) return;
    length = 0;
    start = end + 1;
  }
}

function tooLong(frameBytes: number): Fault {
  return new Fault("tooLarge", `Cannot read frame: longer than ${frameBytes} bytes`);
}

const WINDOW_SECONDS = 10;

/** Makes a counter that throws `tooLarge` above `perSecond` frames, averaged over ten seconds. */
export function makeRate(perSecond: number, now: (() => number) | undefined): () => void {
  if (now === undefined) return () => {};
  const max = perSecond * WINDOW_SECONDS;
  let room = max;
  let counted = now();
  return () => {
    // Reads the clock only after a burst used up its room.
    if (--room >= 0) return;
    const at = now();
    room = Math.min(max, room + (at - counted) / 1000 * perSecond);
    counted = at;
    if (room < 0) {
      throw new Fault("tooLarge", `Cannot take frame: more than ${perSecond} a second`);
    }
  };
}

/** Collects lines to write them together. */
interface Outbox {
  put(line: string): void;
  /** Writes the collected lines immediately. */
  flush(): void;
  /** Discards the collected lines, and all later ones. */
  close(): void;
}

/** Makes an outbox over `write`; `onError` gets the error of a write. */
export function makeOutbox(
  write: (bytes: Uint8Array) => void,
  onError: (error: unknown) => void,
): Outbox {
  let lines = "";
  let queued = false;
  let open = true;

  function flush(): void {
    queued = false;
    if (lines === "") return;
    const bytes = encode(lines);
    lines = "";
    try {
      write(bytes);
    } catch (error) {
      onError(error);
    }
  }

  return Object.freeze({
    put(line: string): void {
      if (!open) return;
      lines += line + "\n";
      if (queued) return;
      queued = true;
      queueMicrotask(flush);
    },
    flush,
    close(): void {
      open = false;
      lines = "";
    },
  });
}
