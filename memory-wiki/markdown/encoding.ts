/** What bytes are as text: UTF-8, UTF-16, an old code page, or none. @module */
import { codePageOf } from "./code_page.ts";

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

/** UTF-16 without its mark: of its blanks and line ends one byte is NUL, always the same, and all else is text. */
function unmarked(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const head = bytes.subarray(0, LOOKED_AT);
  const zeros = [0, 0];
  for (const [at, byte] of head.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (even + odd === 0 || (even > 0 && odd > 0) || head.length < 4) return undefined;
  const encoding = odd > 0 ? "utf-16le" : "utf-16be";
  const text = new TextDecoder(encoding).decode(head.subarray(0, head.length & ~1));
  const telling = text.match(/[\p{L}\p{N}\p{P}\s]/gu)?.length ?? 0;
  return isWide(head, encoding) && telling * 100 >= text.length * 90 ? encoding : undefined;
}

/** Tells how `bytes` are text. Broken UTF-8 is text; anything with NUL bytes that is no UTF-16 is not. */
export function encodingOf(bytes: Uint8Array): Encoding {
  const [first, second] = bytes;
  const wide = first === 0xff && second === 0xfe && !(bytes[2] === 0 && bytes[3] === 0)
    ? "utf-16le"
    : first === 0xfe && second === 0xff
    ? "utf-16be"
    : undefined;
  if (wide !== undefined) return isWide(bytes, wide) ? wide : "binary";
  if (bytes.includes(0)) return unmarked(bytes) ?? "binary";
  const head = bytes.subarray(0, LOOKED_AT);
  let controls = 0;
  for (const byte of head) if (byte < 32 && (byte < 8 || byte > 13) && byte !== 27) controls += 1;
  return controls * 100 > head.length * CONTROLS ? "binary" : "utf-8";
}

/**
 * The text form of bytes in UTF-16: UTF-8, what `NewSource.text` must be for them. Undefined for bytes
 * that are their own text form, and for those that are no text.
 */
export function textFormOf(bytes: Uint8Array): Uint8Array | undefined {
  const encoding = encodingOf(bytes);
  if (encoding !== "utf-16le" && encoding !== "utf-16be") return undefined;
  const text = new TextDecoder(encoding).decode(bytes).replaceAll("\0", "\ufffd");
  return new TextEncoder().encode(text);
}

/** What bytes are read as that are no UTF-8. */
export type OldText =
  | { readonly kind: "utf-8" }
  /** `sure`: its letters speak for it; else it is a guess. */
  | {
    readonly kind: "page";
    readonly text: string;
    readonly encoding: string;
    readonly sure: boolean;
  }
  /** Nobody should read it by a guess. */
  | { readonly kind: "unknown" };

/** Reads text that is no UTF-8 at all, by the code page that its letters speak for. */
export function oldTextOf(bytes: Uint8Array): OldText {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { kind: "utf-8" };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  let [wrong, right] = [0, 0];
  const lenient = new TextDecoder().decode(bytes);
  for (let at = 0; at < lenient.length; at += 1) {
    const unit = lenient.charCodeAt(at);
    if (unit === 0xfffd) wrong += 1;
    else if (unit > 0x7f) right += 1;
  }
  // Characters of several bytes do not come about by chance: that is UTF-8 with broken places.
  if (right > 4 * wrong) return { kind: "utf-8" };
  const page = codePageOf(bytes);
  if (page === undefined) return { kind: "unknown" };
  return { kind: "page", text: new TextDecoder(page.encoding).decode(bytes), ...page };
}
