/** A bounded answer as text. @module */

/** Reads `body` to its end. Rejects as it does. */
export async function textOfBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for await (const bytes of body) parts.push(decoder.decode(bytes, { stream: true }));
  return parts.join("") + decoder.decode();
}
