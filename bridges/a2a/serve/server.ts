/**
 * Remit as an A2A peer: the card and both bindings of protocol 1.0, over a starter that decides.
 * The gateway has identified the caller, whose token goes along with every operation. Wired in
 * service/gateway/main.ts.
 * @module
 */
import type { Json } from "../../../contracts/base/json.ts";
import type { Port } from "../../../contracts/base/port.ts";
import { type A2aCaller, knownCaller, makeDesk, makeWatches } from "./starter.ts";
import { makeHandler } from "./handler.ts";
import { HttpRefusal, withExtensions } from "./refusal.ts";
import { answerJsonRpc, errorAnswer } from "./json_rpc.ts";
import { answerRest, restProblem } from "./rest.ts";
import { makeStreams } from "./streams.ts";
import type { CardAnswer } from "../../../contracts/wire/wire_a2a.ts";

interface A2aServerParts {
  /** The starter: takes the operations of contracts/wire/wire_a2a.ts, and `a2aUnwatch`. */
  readonly port: Pick<Port, "ask" | "tell">;
  /** Runs `then` after `ms` milliseconds; the returned function cancels that. */
  readonly after: (ms: number, then: () => void) => () => void;
  /** An unguessable id, up to 64 letters and digits. */
  randomId(): string;
  note(text: string): void;
  readonly bounds?: Partial<A2aBounds>;
}

/** Limits of the server. */
export interface A2aBounds {
  /** Streams at once, in all and of one peer. */
  readonly streams: number;
  readonly perPeer: number;
  /** Unread bytes of one stream, at most. */
  readonly bufferBytes: number;
  /** Milliseconds that a blocking request waits for its task. */
  readonly blockMs: number;
  /** Milliseconds between keep-alive comments of a stream. */
  readonly aliveMs: number;
}

const A2A_BOUNDS: A2aBounds = Object.freeze({
  streams: 512,
  perPeer: 256,
  bufferBytes: 1_048_576,
  blockMs: 55_000,
  aliveMs: 15_000,
});

/** The A2A server of a gateway. */
export interface A2aServer {
  /** Answers a request whose body is read already; 404 for a path that is not A2A's. */
  fetch(request: Request, body: Uint8Array | undefined, caller: A2aCaller): Promise<Response>;
  /** Takes a message of the starter: `exchange`. */
  heard(op: string, body: Json): void;
  /** Ends all streams and waiting requests. */
  close(): Promise<void>;
}

/** Path of JSON-RPC. */
export const JSON_RPC_PATH = "/a2a";
/** Path of HTTP+JSON, and of everything below it. */
export const REST_PATH = "/a2a/v1";

/** W3C Trace Context, version 00, has 55 characters. */
const MAX_TRACE = 128;

/** Makes the A2A server over a starter's port. */
export function makeA2aServer(parts: A2aServerParts): A2aServer {
  const { port, after, note, randomId: newId } = parts;
  const bounds = { ...A2A_BOUNDS, ...parts.bounds };
  const watches = makeWatches(port, { newId, note });
  const streams = makeStreams(bounds, { after, note });
  let closed = false;

  const card = async (request: Request): Promise<Response> => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response(null, { status: 405, headers: { allow: "GET, HEAD" } });
    }
    try {
      return answerCard(request, await makeDesk({ port, watches, note }, null).card());
    } catch (error) {
      return restProblem(error);
    }
  };

  return Object.freeze<A2aServer>({
    async fetch(request, body, caller): Promise<Response> {
      const { pathname } = new URL(request.url);
      if (pathname === CARD_PATH) return await card(request);
      const rest = pathname.startsWith(`${REST_PATH}/`);
      // Some clients append a slash to the URL.
      const rpc = pathname === JSON_RPC_PATH || pathname === `${JSON_RPC_PATH}/`;
      if (!rest && !rpc) return new Response(null, { status: 404 });
      const known = knownCaller(caller);
      const refuse = (error: HttpRefusal): Response =>
        rest ? restProblem(error) : errorAnswer(null, error);
      if (closed) return withRetry(refuse(new HttpRefusal(503, "The service is ending")));
      if (known === undefined) return challenged(refuse(UNKNOWN), caller);
      const over = new AbortController();
      const binding = {
        stop: () => over.abort(),
        handler: makeHandler({
          ...{ caller: known, newId, after, blockMs: bounds.blockMs, trace: traceOf(request) },
          signal: AbortSignal.any([over.signal, request.signal]),
          desk: makeDesk({ port, watches, note }, known.token),
        }),
        place: () => streams.take(known.holder.peer),
      };
      const response = rest
        ? await answerRest(request, body, { ...binding, path: pathname.slice(REST_PATH.length) })
        : await answerJsonRpc(request, body, binding);
      // A token may be revoked while its request runs.
      if (response.status === 401) return challenged(response, caller);
      if (response.status === 429 || response.status === 503) return withRetry(response);
      return withExtensions(request, response);
    },
    heard(op, body): void {
      if (op === "exchange") watches.heard(body);
    },
    close(): Promise<void> {
      closed = true;
      watches.stopAll();
      streams.close();
      return Promise.resolve();
    },
  });
}

/** The `traceparent` header; undefined when it is too long to be one. */
function traceOf(request: Request): string | undefined {
  const trace = request.headers.get("traceparent") ?? undefined;
  return trace === undefined || trace.length > MAX_TRACE ? undefined : trace;
}

const UNKNOWN = new HttpRefusal(401, "A token is needed");

function challenged(response: Response, { token }: A2aCaller): Response {
  const error = token === null ? "" : ', error="invalid_token"';
  response.headers.set("www-authenticate", `Bearer realm="remit"${error}`);
  return response;
}

function withRetry(response: Response): Response {
  response.headers.set("retry-after", "10");
  return response;
}

/** The card's well-known path: A2A 1.0, section 8. */
export const CARD_PATH = "/.well-known/agent-card.json";

/** Seconds for which a card may be cached; then it is revalidated by its tag. */
const MAX_AGE = 300;

/** Answers GET and HEAD with the card, or 304. */
export function answerCard(request: Request, answer: CardAnswer): Response {
  const { card, etag, modified } = answer;
  const tag = /^(?:W\/)?"/.test(etag) ? etag : `"${etag}"`;
  // Dates in HTTP have no milliseconds.
  const second = Math.floor(modified / 1_000) * 1_000;
  const headers = {
    "content-type": "application/json",
    "cache-control": `public, max-age=${MAX_AGE}`,
    etag: tag,
    "last-modified": new Date(second).toUTCString(),
  };
  if (isKnown(request.headers, tag, second)) return new Response(null, { status: 304, headers });
  return new Response(request.method === "HEAD" ? null : card, { headers });
}

/** Whether the client's copy is current. By RFC 9110 a tag outweighs a date. */
function isKnown(headers: Headers, tag: string, modified: number): boolean {
  const tags = headers.get("if-none-match");
  if (tags !== null) {
    const bare = (text: string): string => text.trim().replace(/^W\//, "");
    return tags.trim() === "*" || tags.split(",").some((each) => bare(each) === bare(tag));
  }
  const since = headers.get("if-modified-since");
  return since !== null && Date.parse(since) >= modified;
}
