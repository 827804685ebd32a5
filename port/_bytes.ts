/** Length of a text in UTF-8. @module */

const encoder = new TextEncoder();

/** Tells whether `text` takes more than `limit` bytes of UTF-8, encoding it only when its length leaves doubt. */
export function passesBytes(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  // A UTF-16 code unit takes at most three bytes.
  return text.length * 3 > limit && encoder.encode(text).length > limit;
}
