/** What bytes are as text: UTF-8, UTF-16 with its mark, or none. @module */

const LOOKED_AT = 65_536;
/** Of a hundred bytes, how many may be control characters before it is no text. */
const CONTROLS = 5;

/** How bytes are read. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "binary";

/** Whether so few characters are none that somebody may have written them: two bytes of chance are a mark as well. */
function isWide(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): boolean {
  const text = new TextDecoder(encoding).decode(bytes.subarray(0, LOOKED_AT));
  const none = text.match(/[^\P{C}\p{Cf}\t\n\v\f\r]|\ufffd/gu)?.length ?? 0;
  return none * 100 <= text.length * CONTROLS;
}

/** Tells how `bytes` are text. Broken UTF-8 is text; anything with NUL bytes and no mark of UTF-16 is not. */
export function encodingOf(bytes: Uint8Array): Encoding {
  const [first, second] = bytes;
  const wide = first === 0xff && second === 0xfe && !(bytes[2] === 0 && bytes[3] === 0)
    ? "utf-16le"
    : first === 0xfe && second === 0xff
    ? "utf-16be"
    : undefined;
  if (wide !== undefined) return isWide(bytes, wide) ? wide : "binary";
  if (bytes.includes(0)) return "binary";
  const head = bytes.subarray(0, LOOKED_AT);
  let controls = 0;
  for (const byte of head) if (byte < 32 && (byte < 8 || byte > 13) && byte !== 27) controls += 1;
  return controls * 100 > head.length * CONTROLS ? "binary" : "utf-8";
}

/**
 * The text form of bytes in UTF-16 with a mark: UTF-8, what `NewSource.text` must be for them. Undefined for bytes
 * that are their own text form, and for those that are no text.
 */
export function textFormOf(bytes: Uint8Array): Uint8Array | undefined {
  const encoding = encodingOf(bytes);
  if (encoding !== "utf-16le" && encoding !== "utf-16be") return undefined;
  const text = new TextDecoder(encoding).decode(bytes).replaceAll("\0", "\ufffd");
  return new TextEncoder().encode(text);
}
