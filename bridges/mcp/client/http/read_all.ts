/** An answer that comes in pieces, whole and bounded. @module */

/**
 * Reads pieces until an empty one. Of a text that is longer than `units` UTF-16 units its beginning where `cut` says so,
 * else nothing.
 */
export async function readAll(
  pieces: () => Promise<Uint8Array>,
  units: number,
  cut: boolean,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const bytes = await pieces();
    if (bytes.length === 0) return text + decoder.decode();
    text += decoder.decode(bytes, { stream: true });
    if (text.length > units) return cut ? text.slice(0, units) : undefined;
  }
}
