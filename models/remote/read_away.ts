/** What follows an answer is read away, so that its connection serves the next request. @module */
import type { RemotePowers } from "./powers.ts";

/** Bytes and milliseconds: most servers end at once, and the others lose their connection. */
const MOST_BYTES = 65_536;
const MOST_MS = 1_000;

/**
 * The bytes of `stream`. Whoever leaves before their end, because all was said, does not wait for it:
 * a new connection would cost the next request a handshake, or several.
 */
export async function* readingAway(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  { timer }: Pick<RemotePowers, "timer">,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const reader = stream.getReader();
  let over = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) over = true;
      if (done) return;
      yield value;
    }
  } catch (error) {
    over = true;
    throw error;
  } finally {
    // It reports to nobody: whatever it meets ends it.
    if (!over) void readAway(reader, timer).catch(() => undefined);
  }
}

async function readAway(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  timer: RemotePowers["timer"],
): Promise<void> {
  const done = new AbortController();
  const late = timer.wait(MOST_MS, done.signal).then(() => reader.cancel(), () => undefined);
  try {
    for (let bytes = 0; bytes <= MOST_BYTES;) {
      const { value, done } = await reader.read();
      if (done) return;
      bytes += value.length;
    }
    await reader.cancel();
  } finally {
    done.abort();
    await late;
  }
}
