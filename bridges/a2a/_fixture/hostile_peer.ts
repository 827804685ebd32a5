/** A peer whose every answer a test writes: on a real socket, with the minimum of the protocol. @module */

/** An answer that a test writes. */
export interface HostilePeer extends AsyncDisposable {
  readonly url: string;
  /** Requests so far, `GET /path` and bodies. */
  readonly seen: readonly { readonly line: string; readonly body: string }[];
}

/** A request, as rules see it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  /** JSON-RPC. */
  readonly rpc: { readonly id?: unknown; readonly method?: string; readonly params?: unknown };
}

/** A card with one skill, for a peer at `url`. */
export function plainCard(url: string, more: object = {}): Record<string, unknown> {
  return {
    ...{ name: "Mallory", description: "An agent.", version: "1.0.0" },
    supportedInterfaces: [{
      ...{ url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    }],
    capabilities: { streaming: false },
    ...{ defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"] },
    skills: [{ id: "echo", name: "Echo", description: "Says it again.", tags: ["echo"] }],
    ...more,
  };
}

/** Answers of JSON-RPC. */
export function result(asked: Asked, value: unknown): Response {
  return Response.json({ jsonrpc: "2.0", id: asked.rpc.id, result: value });
}

/** A task as JSON. */
export function task(id: string, state: string, more: object = {}): Record<string, unknown> {
  return { id, contextId: "ctx", status: { state: `TASK_STATE_${state}` }, ...more };
}

/** Events of a stream, each a JSON-RPC answer. */
export function events(asked: Asked, values: Iterable<unknown> | AsyncIterable<unknown>): Response {
  const encoder = new TextEncoder();
  const body = ReadableStream.from((async function* () {
    for await (const value of values) {
      yield encoder.encode(
        `data: ${JSON.stringify({ jsonrpc: "2.0", id: asked.rpc.id, result: value })}\n\n`,
      );
    }
  })());
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Starts the peer. `card` is its card's text or object; `answer` answers every other request. */
export function hostilePeer(
  { card = plainCard, answer = () => new Response("no", { status: 404 }), heard }: {
    readonly card?: (url: string) => string | object | Response;
    readonly answer?: (asked: Asked) => Response | Promise<Response>;
    readonly heard?: (request: Request) => void;
  } = {},
): HostilePeer {
  const seen: { line: string; body: string }[] = [];
  // Streams that never end must not keep the server alive.
  const ending = new AbortController();
  const close = async (): Promise<void> => {
    ending.abort();
    await server.finished;
  };
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve({
    ...{ hostname: "127.0.0.1", port: 0, onListen: () => {}, signal: ending.signal },
    async handler(request): Promise<Response> {
      const { pathname } = new URL(request.url);
      const body = await request.text();
      heard?.(request);
      seen.push({ line: `${request.method} ${pathname}`, body });
      if (pathname === "/.well-known/agent-card.json") {
        const given = card(url);
        if (given instanceof Response) return given;
        const text = typeof given === "string" ? given : JSON.stringify(given);
        return new Response(text, { headers: { "content-type": "application/json" } });
      }
      const rpc = body === "" ? {} : JSON.parse(body);
      return await answer({ method: request.method, path: pathname, rpc });
    },
  });
  const url: string = `http://127.0.0.1:${server.addr.port}`;
  return { url, seen, [Symbol.asyncDispose]: close };
}
