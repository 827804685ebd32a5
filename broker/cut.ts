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
 * Cuts `text` to `most` bytes of UTF-8, never within a character, and says at its end how much was
 * cut and the SHA-256 of the whole.
 */
export function cutText(text: string, most: number): Cut {
  const whole = encoder.encode(text);
  const digest = sha256Hex(whole);
  const limit = Math.min(most, MOST_UNITS);
  if (whole.length <= limit) return { text, bytes: whole.length, digest };
  let end = limit;
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end--;
  const notice = `\n⟨cut: ${end} of ${whole.length} bytes shown; sha256 ${digest}⟩`;
  return { text: decoder.decode(whole.subarray(0, end)) + notice, bytes: whole.length, digest };
}
