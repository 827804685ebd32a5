/** Unpacks raw deflate within bounds, by the runtime's own decompressor. @module */
import type { Inflate } from "./document.ts";

/** Bytes that go in at once: a thousand times as many may come out before a bound is looked at. */
const STEP = 4_096;

/** See {@link Inflate}. */
export const inflate: Inflate = async (packed, most, take) => {
  const stream = new DecompressionStream("deflate-raw");
  const reader = stream.readable.getReader();
  const feeding = feed(stream.writable.getWriter(), packed);
  let left = most;
  let whole = true;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const part = value.subarray(0, left);
    left -= part.length;
    whole = part.length === value.length;
    if (take(part) && whole) continue;
    whole = false;
    await reader.cancel();
    break;
  }
  await feeding;
  return whole;
};

async function feed(
  writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>,
  packed: Uint8Array,
): Promise<void> {
  try {
    for (let at = 0; at < packed.length; at += STEP) {
      await writer.write(packed.slice(at, at + STEP));
    }
    await writer.close();
  } catch {
    // What is wrong with the stream, or that it was cancelled, the reading end tells.
  }
}
