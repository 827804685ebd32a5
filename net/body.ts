/** Reads an answer's body: decompressed, and never more than was asked for. Used by answer.ts and hops.ts. @module */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { Fault } from "../contracts/base/fault.ts";
import { joinBytes } from "../port/join_bytes.ts";

/** A body, or its beginning. */
export interface Body {
  readonly bytes: Uint8Array;
  readonly cut: boolean;
}

/** Bytes that a compressed body may take on the wire beyond its decompressed limit. */
const SLACK = 64 * 1024;
const CODINGS = 2;

/** The encodings that requests accept. */
export const ACCEPT_ENCODING = "gzip, deflate, br";

type Chunks = AsyncIterable<Uint8Array>;

/**
 * Reads at most `limit` bytes, after decompression, of a body whose header `content-encoding` is
 * `encoding`. Stops reading the source at the limit.
 * @throws {Fault} `upstream` for an unknown coding and for bytes that do not decompress
 */
export async function readBody(
  source: Chunks,
  options: {
    readonly encoding: string;
    readonly limit: number;
    /** Called with the number of bytes before they are kept. */
    readonly take?: (bytes: number) => void;
  },
): Promise<Body> {
  const { limit, take = () => undefined } = options;
  const codings = codingsOf(options.encoding);
  const wire = { left: limit + SLACK, cut: false };
  let chunks: Chunks = codings.length === 0 ? source : upTo(source, wire);
  // The last coding was applied last.
  for (const coding of codings.toReversed()) chunks = decoded(chunks, coding);
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of chunks) {
      const room = limit - size;
      take(Math.min(chunk.length, room));
      if (chunk.length > room) {
        if (room > 0) parts.push(chunk.slice(0, room));
        return { bytes: joinBytes(parts), cut: true };
      }
      parts.push(chunk);
      size += chunk.length;
    }
  } catch (cause) {
    if (!wire.cut) throw cause;
  }
  return { bytes: joinBytes(parts), cut: wire.cut };
}

function codingsOf(encoding: string): readonly string[] {
  const codings = encoding.toLowerCase().split(",").map((each) => each.trim())
    .filter((each) => each !== "" && each !== "identity");
  if (codings.length > CODINGS) throw strange("it is compressed too many times");
  return codings;
}

async function* upTo(source: Chunks, wire: { left: number; cut: boolean }): Chunks {
  for await (const chunk of source) {
    wire.left -= chunk.length;
    if (wire.left < 0) {
      wire.cut = true;
      return;
    }
    yield chunk;
  }
}

type Decoder = ReturnType<typeof createGunzip>;

function decoderFor(coding: string, first: Uint8Array): Decoder {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    case "deflate":
      // Servers send both forms: with the zlib wrapper, as the standard says, and without.
      return ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
    default:
      throw strange("its compression is not known");
  }
}

async function* decoded(source: Chunks, coding: string): Chunks {
  const input = source[Symbol.asyncIterator]();
  const { value: first, done } = await input.next();
  if (done === true || first === undefined) return;
  const decoder = decoderFor(coding, first);
  // A decoder that nobody reads any more may fail without ending the process.
  decoder.on("error", () => undefined);
  pump(decoder, first, input).catch((error) => decoder.destroy(error));
  try {
    for await (const chunk of decoder) yield chunk;
  } catch (cause) {
    // A failure of the source is already a fault.
    throw cause instanceof Fault ? cause : strange("it does not decompress", cause);
  } finally {
    decoder.destroy();
    // Not awaited: a source that waits for its peer ends when its connection closes.
    input.return?.().catch(() => undefined);
  }
}

/** Writes one chunk at a time: takes the next after the decoder has consumed the last. */
async function pump(
  decoder: Decoder,
  first: Uint8Array,
  input: AsyncIterator<Uint8Array>,
): Promise<void> {
  let chunk: Uint8Array | undefined = first;
  while (chunk !== undefined) {
    const bytes: Uint8Array = chunk;
    await new Promise<void>((resolve, reject) => {
      decoder.write(bytes, (error) => error ? reject(error) : resolve());
    });
    const next: IteratorResult<Uint8Array> = await input.next();
    chunk = next.done === true ? undefined : next.value;
  }
  decoder.end();
}

function strange(why: string, cause?: unknown): Fault {
  return new Fault("upstream", `Cannot read the answer: ${why}`, { cause });
}
