/**
 * Answers that are read piece by piece: bytes are taken from the wire only when asked for. Used by
 * service.ts.
 * @module
 */
import { Buffer } from "node:buffer";
import { Fault } from "../contracts/base/fault.ts";
import type { NetStream, NetStreamHead, NetStreamPiece } from "../contracts/wire/wire_net.ts";
import { EMPTY, joined } from "./answer.ts";
import type { WireAnswer } from "./exchange.ts";
import { firstStep, type NetPowers, sendOne } from "./hops.ts";
import { vet } from "./address/vet.ts";

/** Maximum open streams. */
const AT_ONCE = 64;
/** Bytes of a piece. */
const PIECE = 64 * 1024;

/** The streams of one service. */
export interface Streams {
  /** Opens a stream. @throws {Fault} as of `fetch`, `conflict` for an id in use, `rateLimited` */
  open(request: NetStream): Promise<NetStreamHead>;
  /**
   * The next piece. @throws {Fault} `notFound` for an id that is not open, `conflict` while another
   * read waits, `timedOut`, `tooLarge`, `upstream`, `cancelled`; each of these four ends the stream
   */
  read(id: string): Promise<NetStreamPiece>;
  /** Ends a stream, also while it is being opened or read. */
  cancel(id: string): void;
}

/** A stream that is open or opening. */
interface Stream {
  readonly abort: AbortController;
  readonly idleMs: number;
  /** Bytes that may still come. */
  left: number;
  /** Received bytes that did not fit into the last piece. */
  rest: Uint8Array;
  /** Set when the head arrived; already at its end for an answer without a body. */
  pieces?: AsyncIterator<Uint8Array>;
  reading: boolean;
}

const NONE = new Uint8Array(0);

/** Makes the streams of a service. */
export function makeStreams(powers: NetPowers): Streams {
  const open = new Map<string, Stream>();

  const end = (id: string, why: Fault): void => {
    const stream = open.get(id);
    open.delete(id);
    stream?.abort.abort(why);
  };

  const within = async <T>(
    stream: Stream,
    { ms, why }: { readonly ms: number; readonly why: string },
    work: Promise<T>,
  ): Promise<T> => {
    const { signal } = stream.abort;
    const late = (): void => stream.abort.abort(new Fault("timedOut", `Cannot read: ${why}`));
    const forget = powers.clock.after(ms, late);
    const stop = Promise.withResolvers<never>();
    const aborted = (): void => stop.reject(signal.reason);
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    try {
      return await Promise.race([work, stop.promise]);
    } finally {
      forget();
      signal.removeEventListener("abort", aborted);
    }
  };

  async function start(request: NetStream, stream: Stream): Promise<NetStreamHead> {
    const { signal } = stream.abort;
    const step = firstStep(request);
    const addresses = await vet(step.url, { ...powers, allow: request.allow, signal });
    const { answer, hop } = await sendOne(step, addresses, powers, {
      signal,
      encoding: "identity",
    });
    // A stream cancelled meanwhile has no owner to close its connection.
    if (signal.aborted) answer[Symbol.dispose]();
    const headers = joined(answer.headers);
    stream.pieces = piecesOf(answer, request.method);
    return { status: answer.status, headers, hop };
  }

  async function next(stream: Stream, pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
    if (stream.rest.length === 0) {
      const why = `not a byte came within ${stream.idleMs} ms`;
      const { value } = await within(stream, { ms: stream.idleMs, why }, pieces.next());
      if (value === undefined) return NONE;
      stream.left -= value.length;
      if (stream.left < 0) {
        throw new Fault("tooLarge", "Cannot read: the answer is longer than was allowed");
      }
      stream.rest = value;
    }
    const piece = stream.rest.subarray(0, PIECE);
    stream.rest = stream.rest.subarray(PIECE);
    // An empty piece would mean the end.
    return piece.length === 0 ? await next(stream, pieces) : piece;
  }

  return Object.freeze<Streams>({
    async open(request: NetStream): Promise<NetStreamHead> {
      const { id, headMs, idleMs } = request;
      if (open.has(id)) throw new Fault("conflict", "Cannot fetch: that stream is open");
      if (open.size >= AT_ONCE) {
        throw new Fault("rateLimited", `Cannot fetch: ${AT_ONCE} streams are open`);
      }
      const stream: Stream = {
        ...{ abort: new AbortController(), idleMs, left: request.responseBytes },
        ...{ rest: NONE, reading: false },
      };
      open.set(id, stream);
      try {
        const why = `no answer began within ${headMs} ms`;
        return await within(stream, { ms: headMs, why }, start(request, stream));
      } catch (error) {
        end(id, new Fault("cancelled", "Cannot read: it did not open"));
        throw error;
      }
    },
    async read(id: string): Promise<NetStreamPiece> {
      const stream = open.get(id);
      if (stream?.pieces === undefined) {
        throw new Fault("notFound", "Cannot read: no such stream is open");
      }
      if (stream.reading) throw new Fault("conflict", "Cannot read: a read is under way");
      stream.reading = true;
      try {
        const { buffer, byteOffset, length } = await next(stream, stream.pieces);
        if (length === 0) end(id, new Fault("cancelled", "Cannot read: it is over"));
        return { bytes: Buffer.from(buffer, byteOffset, length).toString("base64") };
      } catch (error) {
        end(id, new Fault("cancelled", "Cannot read: it failed"));
        throw error;
      } finally {
        stream.reading = false;
      }
    },
    cancel: (id) => end(id, new Fault("cancelled", "Cannot read: cancelled")),
  });
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function piecesOf(answer: WireAnswer, method: string): AsyncIterator<Uint8Array> {
  const codings = answer.headers.filter(([name]) => name === "content-encoding")
    .flatMap(([, value]) => value.toLowerCase().split(",").map((each) => each.trim()));
  if (codings.some((coding) => coding !== "" && coding !== "identity")) {
    answer[Symbol.dispose]();
    throw new Fault(
      "upstream",
      "Cannot read the answer: it is compressed, which was not asked for",
    );
  }
  if (method === "HEAD" || EMPTY.has(answer.status)) {
    answer[Symbol.dispose]();
    return nothing();
  }
  return answer.body[Symbol.asyncIterator]();
}
