/** A program's output, counted: the program ends at the limits. @module */
import { OutputFull } from "./faults.ts";

/** Output limits of one program. */
export interface Limits {
  /** UTF-8 bytes of stdout; stderr has the same limit. */
  readonly bytes: number;
  /** Lines of stdout; stderr has the same limit. */
  readonly lines: number;
}

/** The two streams. */
export interface Output {
  /** Throws {@link OutputFull} at a limit; keeps what fits. */
  write(text: string): void;
  /** Like `write`, plus a line end. */
  line(text: string): void;
  /** Adds a line to stderr; silently cut. */
  error(text: string): void;
  /** The output so far. */
  taken(): { readonly stdout: string; readonly stderr: string; readonly cut: boolean };
}

/** UTF-8 bytes of a text. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // A surrogate pair is 4 bytes in 2 units: 2 more for the first, none for the second.
    bytes += unit < 0x800 ? 1 : unit < 0xd800 || unit > 0xdfff ? 2 : unit < 0xdc00 ? 2 : 0;
  }
  return bytes;
}

/** The longest beginning of `text` within the limits. */
function fitting(text: string, limits: Limits): string {
  // A unit takes at most three bytes.
  let kept = text.length * 3 <= limits.bytes ? text : text.slice(0, limits.bytes);
  while (kept.length * 3 > limits.bytes) {
    const over = utf8Bytes(kept) - limits.bytes;
    if (over <= 0) break;
    kept = kept.slice(0, kept.length - Math.max(1, Math.floor(over / 3)));
  }
  const last = kept.charCodeAt(kept.length - 1);
  if (kept.length < text.length && last >= 0xd800 && last < 0xdc00) kept = kept.slice(0, -1);
  let lines = 0;
  for (let at = kept.indexOf("\n"); at >= 0; at = kept.indexOf("\n", at + 1)) {
    if (++lines === limits.lines) return kept.slice(0, at + 1);
  }
  return kept;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** One stream within limits: keeps what fits and tells whether everything did. */
function stream(limits: Limits): { put(text: string): boolean; text(): string } {
  const parts: string[] = [];
  let { bytes, lines } = limits;
  return {
    put(text: string): boolean {
      if (text === "") return true;
      if (bytes <= 0 || lines <= 0) return false;
      const kept = fitting(text, { bytes, lines });
      bytes -= utf8Bytes(kept);
      lines -= countLines(kept);
      parts.push(kept);
      return kept.length === text.length;
    },
    text: () => parts.join(""),
  };
}

/** Makes the streams of one program. */
export function makeOutput(limits: Limits): Output {
  const out = stream(limits), err = stream(limits);
  let cut = false;
  const write = (text: string): void => {
    if (out.put(text)) return;
    cut = true;
    throw new OutputFull("the output is full");
  };
  return Object.freeze({
    write,
    line: (text: string) => write(`${text}\n`),
    error(text: string): void {
      if (!err.put(`${text}\n`)) cut = true;
    },
    taken: () => ({ stdout: out.text(), stderr: err.text(), cut }),
  });
}
