/**
 * Serves hosts over Streamable HTTP: sessions of revisions up to 2025-11-25, requests of
 * 2026-07-28. The gateway has identified the caller. Wired in service/gateway/main.ts.
 * @module
 */
import {
  createMcpHandler,
  type EventStore,
  isInitializeRequest,
  isLegacyRequest,
  type JSONRPCMessage,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { HostSession } from "./session.ts";

/** A session that can be ended. */
export interface EndingSession extends HostSession {
  /** Calls `listener` once when the session was ended from the other side. */
  onGone(listener: () => void): void;
  end(): Promise<void>;
}

interface Caller {
  /** The token's name. */
  readonly holder: string;
  readonly token: string;
}

/** What serving hosts needs. */
export interface McpHttpParts {
  /** Makes the unconnected server of one connection or request. */
  makeServer(session: HostSession): Server;
  open(
    caller: Caller,
    client: { readonly name: string; readonly version: string },
  ): Promise<EndingSession>;
  /** An unguessable id. */
  sessionId(): string;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  note(text: string): void;
  /** Sessions at most, in total and of one token. */
  readonly max: { readonly sessions: number; readonly perHolder: number };
}

interface McpHttp {
  /** Answers a request whose body is read already. */
  fetch(request: Request, body: unknown, caller: Caller): Promise<Response>;
  close(): Promise<void>;
}

/** Milliseconds after which an unused session is ended. */
const IDLE_MS = 30 * 60_000;
/** Milliseconds after which an unused session may be replaced by a new one. */
const RESTING_MS = 5 * 60_000;
/** Milliseconds after which a host should reconnect a lost stream. */
const RETRY_MS = 1_000;
const CLIENT = { name: "host", version: "0" } as const;

interface Live {
  readonly holder: string;
  readonly session: EndingSession;
  /** Of sessions up to 2025-11-25; later requests share one session of their token. */
  readonly transport?: WebStandardStreamableHTTPServerTransport;
  readonly server?: Server;
  usedAt: number;
}

/** Makes the HTTP side of an MCP server. */
export function makeMcpHttp(parts: McpHttpParts): McpHttp {
  const live = new Map<string, Live>();
  const opening = new Map<string, Promise<Live>>();
  /** Holders of sessions that are being opened, which count as open. */
  const reserved: string[] = [];
  let closed = false;

  const end = async (id: string): Promise<void> => {
    const found = live.get(id);
    if (found === undefined) return;
    live.delete(id);
    await found.transport?.close();
    await found.session.end().catch(() => undefined);
  };

  /** Reserves room for one session, ending an old one if needed; false when there is none. */
  const room = (holder: string): boolean => {
    const now = parts.now();
    const rows = [...live].toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [id, { usedAt }] of rows) if (now - usedAt > IDLE_MS) void end(id);
    const mine = rows.filter(([, each]) => each.holder === holder);
    const many = mine.length + reserved.filter((each) => each === holder).length;
    const crowded = many >= parts.max.perHolder;
    if (crowded || live.size + reserved.length >= parts.max.sessions) {
      // A host's own sessions go first, and never one in use.
      const [oldest] = crowded ? mine : rows;
      if (oldest === undefined || now - oldest[1].usedAt <= RESTING_MS) return false;
      void end(oldest[0]);
    }
    reserved.push(holder);
    return true;
  };

  const unreserve = (holder: string): void => {
    const at = reserved.indexOf(holder);
    if (at >= 0) reserved.splice(at, 1);
  };
  const add = (id: string, entry: Live): Live => {
    live.set(id, entry);
    unreserve(entry.holder);
    entry.session.onGone(() => void end(id));
    return entry;
  };

  const begin = async (request: Request, body: unknown, caller: Caller): Promise<Response> => {
    if (!room(caller.holder)) {
      return refusal(503, -32_000, "Too many sessions", { "retry-after": "60" });
    }
    const id = parts.sessionId();
    const client = isInitializeRequest(body) ? body.params.clientInfo : CLIENT;
    const session = await parts.open(caller, {
      name: client.name.slice(0, 128),
      version: client.version.slice(0, 64),
    }).catch((error: unknown) => {
      unreserve(caller.holder);
      throw error;
    });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: makeEventStore(),
      retryInterval: RETRY_MS,
      onsessionclosed: () => void end(id),
    });
    const server = parts.makeServer(session);
    server.onerror = (error) => parts.note(error.message);
    await server.connect(transport);
    add(id, { holder: caller.holder, session, transport, server, usedAt: parts.now() });
    const response = await transport.handleRequest(request, {
      parsedBody: body,
      authInfo: authOf(caller),
    });
    // The transport refused the session.
    if (response.status >= 400) await end(id);
    return response;
  };

  const legacy = async (request: Request, body: unknown, caller: Caller): Promise<Response> => {
    const id = request.headers.get("mcp-session-id");
    if (id === null) {
      const first = Array.isArray(body) ? body : [body];
      return request.method === "POST" && first.some((each) => isInitializeRequest(each))
        ? await begin(request, body, caller)
        : refusal(400, -32_000, "Bad Request: Mcp-Session-Id header is required");
    }
    const found = live.get(id);
    // Another token's session gives the same answer as a missing one.
    if (found?.transport === undefined || found.holder !== caller.holder) {
      return refusal(404, -32_001, "Session not found");
    }
    found.usedAt = parts.now();
    return await found.transport.handleRequest(request, {
      parsedBody: body,
      authInfo: authOf(caller),
    });
  };

  /** The session shared by all requests of revision 2026-07-28 with one token. */
  const shared = async (caller: Caller): Promise<EndingSession> => {
    const id = `token:${caller.holder}`;
    const found = live.get(id);
    if (found !== undefined) {
      found.usedAt = parts.now();
      return found.session;
    }
    const before = opening.get(id);
    if (before !== undefined) return (await before).session;
    if (!room(caller.holder)) throw new Error("Too many sessions");
    const made = parts.open(caller, CLIENT).then((session) =>
      add(id, { holder: caller.holder, session, usedAt: parts.now() })
    );
    opening.set(id, made);
    try {
      const { session } = await made;
      session.onTools(() => modern.notify.toolsChanged());
      return session;
    } catch (error) {
      unreserve(caller.holder);
      throw error;
    } finally {
      opening.delete(id);
    }
  };

  const modern = createMcpHandler(async ({ authInfo }) => {
    const caller = { holder: authInfo?.clientId ?? "", token: authInfo?.token ?? "" };
    return parts.makeServer(await shared(caller));
  }, { legacy: "reject", onerror: (error) => parts.note(error.message) });

  return Object.freeze<McpHttp>({
    async fetch(request, body, caller): Promise<Response> {
      if (closed) return refusal(503, -32_000, "The server is ending");
      return await isLegacyRequest(request, body)
        ? await legacy(request, body, caller)
        : await modern.fetch(request, { parsedBody: body, authInfo: authOf(caller) });
    },
    async close(): Promise<void> {
      closed = true;
      await modern.close();
      await Promise.allSettled([...live.keys()].map(end));
    },
  });
}

function authOf({ holder, token }: Caller): { token: string; clientId: string; scopes: string[] } {
  return { token, clientId: holder, scopes: [] };
}

function refusal(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status, headers });
}

const MAX_EVENTS = 512;
/** UTF-16 units of all events together. */
const MAX_TEXT = 8 * 1_048_576;

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

/** Makes an event store that drops the oldest events; a dropped event cannot be resumed from. */
function makeEventStore(): EventStore {
  const events: Kept[] = [];
  let count = 0;
  let text = 0;
  return Object.freeze<EventStore>({
    storeEvent(stream, message): Promise<string> {
      const id = `${stream}_${++count}`;
      const size = JSON.stringify(message).length;
      events.push({ id, stream, message, size });
      text += size;
      while (events.length > MAX_EVENTS || (text > MAX_TEXT && events.length > 1)) {
        text -= events.shift()?.size ?? 0;
      }
      return Promise.resolve(id);
    },
    getStreamIdForEventId: (id) => Promise.resolve(events.find((each) => each.id === id)?.stream),
    async replayEventsAfter(last, { send }): Promise<string> {
      const at = events.findIndex(({ id }) => id === last);
      const stream = events[at]?.stream;
      if (stream === undefined) return "";
      for (const each of events.slice(at + 1)) {
        if (each.stream === stream) await send(each.id, each.message);
      }
      return stream;
    },
  });
}
