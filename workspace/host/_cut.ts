/** Text cut to a number of bytes. @module */

/** The longest head of `text` that takes at most `most` bytes of UTF-8, characters whole. */
export function headBytes(text: string, most: number): string {
  if (text.length * 3 <= most) return text;
  const room = new Uint8Array(Math.max(0, most));
  const { read } = new TextEncoder().encodeInto(text, room);
  return text.slice(0, read);
}

/** Lines joined within `most` bytes; says how many were left out. */
export function fitLines(lines: readonly string[], most: number): { text: string; cut: number } {
  const room = Math.max(0, most - 64);
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const [index, line] of lines.entries()) {
    bytes += encoder.encode(line).length + 1;
    if (bytes > room && index > 0) {
      const cut = lines.length - index;
      return { text: `${lines.slice(0, index).join("\n")}\n[${cut} more lines left out]`, cut };
    }
  }
  return { text: headBytes(lines.join("\n"), most), cut: 0 };
}

// deno-lint-ignore no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A name from a folder on one line: one with control characters is quoted, and cannot be named. */
export function nameLine(name: string): string {
  return CONTROL.test(name) ? JSON.stringify(name) : name;
}
