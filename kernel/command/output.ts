/** What a program printed, as far as anybody wants to read it. @module */

/** Most bytes that a program may print at all; it is ended past them. */
export const FLOOD_BYTES = 64 * 1024 * 1024;

/** Keeps the beginning of one stream. */
export interface Capture {
  hear(chunk: Uint8Array): void;
  /** The text, ended with a whole character. */
  text(): string;
  /** Whether something was left out. */
  cut(): boolean;
}

/** Makes the capture of at most so many bytes and lines; `onFlood` is called once past {@link FLOOD_BYTES}. */
export function makeCapture(
  limits: { readonly bytes: number; readonly lines: number; onFlood(): void },
): Capture {
  const kept: Uint8Array[] = [];
  let { bytes, lines } = limits;
  let total = 0, cut = false;
  return Object.freeze({
    hear(chunk: Uint8Array): void {
      const before = total;
      total += chunk.length;
      if (before <= FLOOD_BYTES && total > FLOOD_BYTES) limits.onFlood();
      if (bytes <= 0 || lines <= 0) {
        cut ||= chunk.length > 0;
        return;
      }
      let part = chunk.subarray(0, bytes);
      for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) {
        lines -= 1;
        if (lines === 0) part = part.subarray(0, at + 1);
      }
      bytes -= part.length;
      cut ||= part.length < chunk.length;
      kept.push(part.slice());
    },
    text(): string {
      const decoder = new TextDecoder();
      const text = kept.map((part) => decoder.decode(part, { stream: true })).join("");
      return cut ? text : text + decoder.decode();
    },
    cut: () => cut,
  });
}
