/** Bytes to lines, with a limit on the longest. @module */
import { Fault } from "../contracts/fault.ts";

const NEWLINE = 10;

/** Takes the bytes of one stream and hands out its lines, without their newline, until `onLine` returns false. */
export function makeLineReader(
  frameBytes: number,
  onLine: (line: string) => boolean,
): (chunk: Uint8Array) => void {
  // ignoreBOM: a byte order mark is a character that no frame starts with.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest = "";
  let restBytes = 0;

  return (chunk) => {
    // Only a chunk that could end a line too long is searched twice.
    if (restBytes + chunk.length > frameBytes) refuseLongLines(chunk, restBytes, frameBytes);
    const text = decode(decoder, chunk);
    let end = text.indexOf("\n");
    if (end < 0) {
      rest += text;
      restBytes += chunk.length;
      return;
    }
    const first = rest + text.slice(0, end);
    restBytes = chunk.length - 1 - chunk.lastIndexOf(NEWLINE);
    rest = "";
    if (!onLine(first)) return;
    let start = end + 1;
    for (end = text.indexOf("\n", start); end >= 0; end = text.indexOf("\n", start)) {
      if (!onLine(text.slice(start, end))) return;
      start = end + 1;
    }
    rest = text.slice(start);
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
    if (length > frameBytes) {
      throw new Fault("tooLarge", `Cannot read frame: longer than ${frameBytes} bytes`);
    }
    if (end < 0) return;
    length = 0;
    start = end + 1;
  }
}
