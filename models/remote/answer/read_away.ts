/** What follows an answer is read away, so that its connection serves the next request. @module */
import type { RemotePowers } from "../endpoint.ts";

/** Bytes and milliseconds: most servers end at once, and the others lose their connection. */
const MAX_BYTES = 65_536;
const MAX_MS = 1_000;
const BUFFER_BYTES = 16_384;

/** Gives the next piece, which is good until the one after it is asked for; undefined at the end. */
interface Reader {
  next(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  cancel(): Promise<void>;
}

/**
 * The bytes of `stream`, each piece good until the next one is asked for. Whoever leaves before their
 * end, because all was said, does not wait for it: a new connection would cost the next request a
 * handshake, or several.
 */
export async function* readingAway(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  { timer }: Pick<RemotePowers, "timer">,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const reader = readerOf(stream);
  let over = false;
  try {
    for (;;) {
      const bytes = await reader.next();
      if (bytes === undefined) {
        over = true;
        return;
      }
      yield bytes;
    }
  } catch (error) {
    over = true;
    throw error;
  } finally {
    // It reports to nobody: whatever it meets ends it.
    if (!over) void readAway(reader, timer).catch(() => undefined);
  }
}

/** One buffer for all pieces: `fetch` would make one of 64 KiB for each, and a word is ten bytes. */
function readerOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Reader {
  const reader = tryBufferedReader(stream);
  if (reader === undefined) {
    const plain = stream.getReader();
    return {
      next: async () => (await plain.read()).value,
      cancel: () => plain.cancel(),
    };
  }
  let buffer = new Uint8Array(BUFFER_BYTES);
  return {
    async next() {
      const { value, done } = await reader.read(buffer);
      if (done || value === undefined) return undefined;
      buffer = new Uint8Array(value.buffer);
      return value;
    },
    cancel: () => reader.cancel(),
  };
}

/** Undefined for a stream that makes its pieces itself: `fetch` gives none such. */
function tryBufferedReader(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): ReadableStreamBYOBReader | undefined {
  try {
    return stream.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

async function readAway(
  reader: Reader,
  timer: RemotePowers["timer"],
): Promise<void> {
  const done = new AbortController();
  const late = timer.wait(MAX_MS, done.signal).then(() => reader.cancel(), () => undefined);
  try {
    for (let bytes = 0; bytes <= MAX_BYTES;) {
      const piece = await reader.next();
      if (piece === undefined) return;
      bytes += piece.length;
    }
    await reader.cancel();
  } finally {
    done.abort("it was read");
    await late;
  }
}
