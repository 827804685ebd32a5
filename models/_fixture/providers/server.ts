/** The loopback server beneath each provider: it records requests and streams scripted answers. @module */
import type { Piece } from "./script.ts";

/** A received request. */
export interface Received {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server on 127.0.0.1, at a port of its own. */
export interface Loopback extends AsyncDisposable {
  readonly origin: string;
  /** All requests, in order. */
  readonly received: readonly Received[];
  /** Resolves when this many requests have arrived since the start. */
  readonly came: (count: number) => Promise<void>;
  /** Bytes of bodies that clients took, or that are in a buffer on their way. */
  readonly sent: () => number;
  /** Resolves when a client next disconnects before the end of an answer. */
  readonly left: () => Promise<void>;
}

/** How a handler answers. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: Iterable<Piece> | AsyncIterable<Piece>;
  /** Closes the connection after the pieces, without an end of the answer. */
  readonly cut?: boolean;
}

/** Serves `handle` until it is disposed of, which closes each connection. */
export function serveLoopback(handle: (received: Received) => Reply | Promise<Reply>): Loopback {
  const received: Received[] = [];
  const stop = new AbortController();
  let expected: { readonly count: number; readonly resolve: () => void }[] = [];
  let bytes = 0;
  const closed = Promise.withResolvers<void>();
  let leaving = Promise.withResolvers<void>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen: () => {} },
    async (request) => {
      const got: Received = {
        method: request.method,
        path: new URL(request.url).pathname,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      };
      received.push(got);
      for (const { count, resolve } of expected) if (received.length >= count) resolve();
      expected = expected.filter(({ count }) => received.length < count);
      const { status = 200, headers = {}, pieces, cut = false } = await handle(got);
      return new Response(bodyOf(pieces, cut), { status, headers });
    },
  );

  function bodyOf(pieces: Reply["pieces"], cut: boolean): ReadableStream<Uint8Array<ArrayBuffer>> {
    const next = iterate(pieces);
    const gone = Promise.withResolvers<void>();
    const encoder = new TextEncoder();
    return new ReadableStream({
      async pull(controller) {
        for (;;) {
          const { done, value } = await next();
          if (done === true) {
            if (cut) controller.error(new Error("the connection is cut here"));
            else controller.close();
            return;
          }
          if (value instanceof Promise) {
            await Promise.race([value, gone.promise, closed.promise]);
            continue;
          }
          const piece = typeof value === "string" ? encoder.encode(value) : Uint8Array.from(value);
          if (piece.length === 0) continue;
          bytes += piece.length;
          return controller.enqueue(piece);
        }
      },
      cancel() {
        gone.resolve();
        leaving.resolve();
        leaving = Promise.withResolvers();
      },
    }, { highWaterMark: 0 });
  }

  return Object.freeze<Loopback>({
    origin: `http://127.0.0.1:${server.addr.port}`,
    received,
    came(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (received.length >= count) resolve();
      else expected.push({ count, resolve });
      return promise;
    },
    sent: () => bytes,
    left: () => leaving.promise,
    async [Symbol.asyncDispose]() {
      closed.resolve();
      stop.abort();
      await server.finished;
    },
  });
}

// The iteration must not await a promise among the pieces, or it would miss a cancel.
function iterate(pieces: Reply["pieces"]): () => Promise<IteratorResult<Piece, unknown>> {
  if (Symbol.asyncIterator in pieces) {
    const iterator = pieces[Symbol.asyncIterator]();
    return () => iterator.next();
  }
  const iterator = pieces[Symbol.iterator]();
  return () => Promise.resolve(iterator.next());
}
