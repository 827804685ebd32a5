/** Bytes as text, by their mark, by what they say of themselves, or by what they look like. @module */
import { Fault } from "../../contracts/fault.ts";

/** A text and how it was read. */
export interface Decoded {
  readonly text: string;
  /** A WHATWG name: `utf-8`, `utf-16le`, `windows-1252`. */
  readonly encoding: string;
  readonly notes: readonly string[];
}

/** Bytes that are looked at to tell UTF-16 without a mark, and binary data. */
const SAMPLE = 65_536;

/**
 * Decodes bytes. `named` is what the document says its encoding is; a byte order mark overrules it.
 *
 * @throws Fault `invalidInput` for bytes that are no text in any encoding known here
 */
export function decodeText(bytes: Uint8Array, name: string, named?: string): Decoded {
  const marked = encodingOfMark(bytes);
  if (marked !== undefined) return decodeAs(marked, bytes);
  const told = named === undefined ? undefined : decoderOf(named);
  if (told !== undefined && told !== "utf-8") return decodeAs(told, bytes);
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return decodeAs(wide, bytes);
  if (isBinary(bytes)) {
    throw new Fault("invalidInput", `Cannot read ${JSON.stringify(name)}: it is not text`);
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text, encoding: "utf-8", notes: [] };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  const loose = new TextDecoder("utf-8").decode(bytes);
  const { wrong, right } = countWide(loose);
  if (told === "utf-8" || right > 4 * wrong) {
    return {
      text: loose,
      encoding: "utf-8",
      notes: [`${wrong} places are no UTF-8 and stand as U+FFFD.`],
    };
  }
  const { text } = decodeAs("windows-1252", bytes);
  return {
    text,
    encoding: "windows-1252",
    notes: ["It is no UTF-8 and was read as Windows-1252 (Latin-1)."],
  };
}

/** Replacement characters, and those beyond ASCII that are none. No lists: there may be 32 million. */
function countWide(text: string): { readonly wrong: number; readonly right: number } {
  let wrong = 0;
  let right = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0xfffd) wrong += 1;
    else if (unit > 0x7f) right += 1;
  }
  return { wrong, right };
}

function decodeAs(encoding: string, bytes: Uint8Array): Decoded {
  const text = new TextDecoder(encoding).decode(bytes);
  const notes = encoding === "utf-8" ? [] : [`It was read as ${encoding}.`];
  return { text, encoding, notes };
}

function encodingOfMark(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return undefined;
}

/** The name of the decoder for a label, if there is one. */
function decoderOf(label: string): string | undefined {
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch (error) {
    // A label that nobody knows.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** UTF-16 without a mark: text of Latin letters has zeros at every other place, and nowhere else. */
function wideEncoding(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, SAMPLE);
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) {
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  }
  const [even = 0, odd = 0] = zeros;
  const half = sample.length / 2;
  if (bytes.length < 4 || bytes.length % 2 !== 0) return undefined;
  if (odd > half * 0.4 && even < half * 0.02) return "utf-16le";
  if (even > half * 0.4 && odd < half * 0.02) return "utf-16be";
  return undefined;
}

/** Zeros, or more control characters than text has. */
function isBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE);
  let odd = 0;
  for (const byte of sample) {
    if (byte === 0) odd += 8;
    else if (byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 27) odd += 1;
  }
  return odd > sample.length * 0.02;
}
