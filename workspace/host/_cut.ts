/** Text cut to a number of bytes. @module */
import { CONTROL } from "../path.ts";

/** The longest beginning of `text` of at most `max` bytes in UTF-8, without cutting a character. */
export function headBytes(text: string, max: number): string {
  if (text.length * 3 <= max) return text;
  const room = new Uint8Array(Math.max(0, max));
  const { read } = new TextEncoder().encodeInto(text, room);
  return text.slice(0, read);
}

/** Joins lines within `max` bytes and says how many were left out. */
export function fitLines(lines: readonly string[], max: number): { text: string; cut: number } {
  const room = Math.max(0, max - 64);
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const [index, line] of lines.entries()) {
    bytes += encoder.encode(line).length + 1;
    if (bytes > room && index > 0) {
      const cut = lines.length - index;
      return { text: `${lines.slice(0, index).join("\n")}\n[${cut} more lines left out]`, cut };
    }
  }
  return { text: headBytes(lines.join("\n"), max), cut: 0 };
}

/** A file name on one line: a name with control characters is quoted; no tool can name it. */
export function nameLine(name: string): string {
  return CONTROL.test(name) ? JSON.stringify(name) : name;
}
