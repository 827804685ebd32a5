/** Drains an answer for open_endpoint.ts, so that its connection can be reused. @module */
import type { RemotePowers } from "../endpoint.ts";

/** Limits of draining: most servers end at once; a connection past these limits is dropped. */
const MAX_BYTES = 65_536;
const MAX_MS = 1_000;
const BUFFER_BYTES = 16_384;

/** Reads pieces; each is valid until the next call. Undefined at the end. */
interface Reader {
  next(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  cancel(): Promise<void>;
}

/**
 * The bytes of `stream`; each piece is valid until the next is requested. A consumer may stop before the end: the
 * rest is drained in the background, since a new connection would cost the next request one or more handshakes.
 */
export async function* draining(
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
    // Errors of draining concern nobody.
    if (!over) void drain(reader, timer).catch(() => undefined);
  }
}

/** One buffer for all pieces: `fetch` would allocate 64 KiB for each piece of about ten bytes. */
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

/** Undefined for a stream that is not a byte stream, which `fetch` never returns. */
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

async function drain(
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
