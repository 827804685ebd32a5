/**
 * Decodes bytes as text with a named encoding; bytes that are not text are shown as hex. @module
 */

/** Encodings that are read, and written back unchanged. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be";

/** Text, or the reason why it is not decoded. A byte order mark stays in `text`. */
export type Decoded =
  | { readonly encoding: TextEncoding; readonly text: string }
  | { readonly encoding: "latin-1" | "binary" };

/** Decodes bytes as text. Tells legacy 8-bit text from binary, without guessing its encoding. */
export function decode(bytes: Uint8Array): Decoded {
  const [a, b] = bytes;
  const wide = a === 0xff && b === 0xfe ? "utf-16le" : a === 0xfe && b === 0xff ? "utf-16be" : "";
  const encoding: TextEncoding = wide === "" ? "utf-8" : wide;
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? { encoding: "binary" } : { encoding, text };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { encoding: looksLegacy(bytes.subarray(0, 8_192)) ? "latin-1" : "binary" };
  }
}

/** Whether bytes hold a NUL, which no text holds, unless a byte order mark says UTF-16. */
export function isBinary(bytes: Uint8Array): boolean {
  const [a, b] = bytes;
  const wide = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  return !wide && bytes.includes(0);
}

/** The number of line ends in these bytes. */
export function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  return lines;
}

const LAYOUT: ReadonlySet<number> = new Set([9, 10, 12, 13]);

function looksLegacy(head: Uint8Array): boolean {
  return head.every((byte) => byte >= 0xa0 || (byte >= 0x20 && byte < 0x7f) || LAYOUT.has(byte));
}

/** Encodes text. */
export function encode(text: string, encoding: TextEncoding): Uint8Array<ArrayBuffer> {
  if (encoding === "utf-8") return new TextEncoder().encode(text);
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i++) {
    view.setUint16(i * 2, text.charCodeAt(i), encoding === "utf-16le");
  }
  return bytes;
}

/** The first bytes in hex and as characters, 16 a line. */
export function hexHead(bytes: Uint8Array, max = 128): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, max); at += 16) {
    const row = [...bytes.subarray(at, Math.min(at + 16, max))];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const print = row.map((b) => b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : ".").join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(47)}  ${print}`);
  }
  return lines.join("\n");
}
