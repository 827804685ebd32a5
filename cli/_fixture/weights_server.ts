/** A loopback server of weights that answers requests as a test specifies. @module */

/** A running server, and the requests to it. */
export interface WeightsServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: Request[];
}

/** The answer of an honest server: whole, or from the requested offset. */
export function honest(bytes: Uint8Array, tag = '"v1"'): (request: Request) => Response {
  return (request) => {
    const range = /^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "");
    const goOn = range !== null && request.headers.get("if-range") === tag;
    const from = goOn ? Number(range[1]) : 0;
    return new Response(new Blob([bytes.slice(from)]), {
      status: goOn ? 206 : 200,
      headers: {
        etag: tag,
        "content-length": String(bytes.length - from),
        ...(goOn ? { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}),
      },
    });
  };
}

/** Sends some bytes of a longer answer, and then disconnects. */
export function breakingOff(bytes: Uint8Array, after: number, tag = '"v1"'): Response {
  let sent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller): void {
      if (sent) return controller.error(new Error("the line broke"));
      sent = true;
      controller.enqueue(bytes.slice(0, after));
    },
  });
  return new Response(body, {
    headers: { etag: tag, "content-length": String(bytes.length) },
  });
}

/** Starts the server. */
export function serveWeights(answer: (request: Request) => Response): WeightsServer {
  const asked: Request[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined, onError: () => new Response("") },
    (request) => {
      asked.push(request);
      return answer(request);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/weights.gguf`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
