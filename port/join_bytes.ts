/** Byte arrays joined. Used wherever bytes arrive in pieces. @module */

/** Concatenates byte arrays into a new one. */
export function joinBytes(parts: Iterable<Uint8Array>): Uint8Array<ArrayBuffer> {
  const all = [...parts];
  const whole = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
