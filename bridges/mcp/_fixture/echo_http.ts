/**
 * A server with one of everything, over Streamable HTTP, at a loopback port that it prints. With the argument
 * `old` it speaks only 2025-11-25, with sessions. `--token T` requires `authorization: Bearer T`.
 * @module
 */
import {
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { makeEcho } from "./echo_server.ts";

type Serve = (request: Request) => Promise<Response>;

const token = Deno.args[Deno.args.indexOf("--token") + 1];

/** A server for each session. */
function makeOld(): Serve {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request) => {
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? undefined : sessions.get(id);
    if (known !== undefined) return await known.handleRequest(request);
    if (id !== null) return new Response("no such session", { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (made) => void sessions.set(made, transport),
      onsessionclosed: (closed) => {
        sessions.delete(closed);
      },
    });
    await makeEcho().connect(transport);
    return await transport.handleRequest(request);
  };
}

const serve: Serve = Deno.args[0] === "old"
  ? makeOld()
  : ((handler) => (request) => handler.fetch(request))(createMcpHandler(makeEcho));

Deno.serve({
  ...{ hostname: "127.0.0.1", port: 0 },
  onListen: ({ port }) => void Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`)),
}, async (request) => {
  const wanted = Deno.args.includes("--token") ? `Bearer ${token}` : undefined;
  if (wanted !== undefined && request.headers.get("authorization") !== wanted) {
    return new Response("who are you?", { status: 401 });
  }
  return await serve(request);
});
