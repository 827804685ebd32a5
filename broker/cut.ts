/** Results cut to size. @module */
import type { Digest } from "../contracts/mod.ts";
import { sha256Hex } from "../port/digest.ts";

/** A text that fits, and what it was. */
export interface Cut {
  readonly text: string;
  /** Bytes of UTF-8 before the cut. */
  readonly bytes: number;
  readonly digest: Digest;
}

const MOST_UNITS = 990_000;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Cuts `text` to `most` bytes of UTF-8, never within a character: its beginning and its end, where
 * what failed stands, and between them how much is shown, and the SHA-256 of the whole.
 */
export function cutText(text: string, most: number): Cut {
  const whole = encoder.encode(text);
  const digest = sha256Hex(whole);
  const limit = Math.min(most, MOST_UNITS);
  if (whole.length <= limit) return { text, bytes: whole.length, digest };
  const continues = (at: number): boolean => ((whole[at] ?? 0) & 0xc0) === 0x80;
  let end = Math.ceil(limit / 2), begin = whole.length - Math.floor(limit / 2);
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && continues(end)) end--;
  while (begin < whole.length && continues(begin)) begin++;
  const shown = end + whole.length - begin;
  const notice = `\n⟨cut: ${shown} of ${whole.length} bytes shown; sha256 ${digest}⟩\n`;
  return {
    text: decoder.decode(whole.subarray(0, end)) + notice + decoder.decode(whole.subarray(begin)),
    bytes: whole.length,
    digest,
  };
}
