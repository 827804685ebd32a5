/** Texts to bytes. @module */

const encoder = new TextEncoder();
const SCRATCH_BYTES = 1 << 18;
let scratch: Uint8Array | undefined;

/** UTF-8 of `text`, in an array of its own. A third of the time of TextEncoder.encode, up to 87,000 characters. */
export function encode(text: string): Uint8Array {
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 > SCRATCH_BYTES) return encoder.encode(text);
  scratch ??= new Uint8Array(SCRATCH_BYTES);
  return scratch.slice(0, encoder.encodeInto(text, scratch).written);
}

/** Tells whether `text` takes more than `limit` bytes of UTF-8, encoding it only when its length leaves doubt. */
export function passesBytes(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  return text.length * 3 > limit && encoder.encode(text).length > limit;
}
