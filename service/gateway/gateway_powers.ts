/**
 * The gateway's clock, randomness and listener. It listens at one address within limits on
 * connections, and passes each accepted connection to the function beneath `Deno.serve`, which Deno
 * does not guarantee to keep (docs/decision/0021). Used by main.ts.
 * @module
 */
import type { After } from "./body.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { callerOf } from "./rates.ts";
import { type ConnectionBounds, type Connections, makeConnections } from "./connections.ts";

/** Random bytes. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Milliseconds of a monotonic clock. */
export function now(): number {
  return performance.now();
}

/** A timer of this process. */
export const after: After = (ms, then) => {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
};

/** Base64 of a text's SHA-256. */
export async function sha256Base64(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(bytes).toBase64();
}

/** Makes a function that computes the HMAC-SHA-256 of a text under `key`, as base64url. */
export async function makeSeal(
  key: Uint8Array<ArrayBuffer>,
): Promise<(text: string) => Promise<string>> {
  const usages: KeyUsage[] = ["sign"];
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const made = await crypto.subtle.importKey("raw", key, hmac, false, usages);
  return async (text) => {
    const bytes = await crypto.subtle.sign("HMAC", made, new TextEncoder().encode(text));
    return new Uint8Array(bytes).toBase64({ alphabet: "base64url", omitPadding: true });
  };
}

/** A server at an address. */
export interface Listener {
  /** The port, also where any free port was requested. */
  readonly port: number;
  /** Accepts no more connections; resolves when the open ones have ended. */
  shutdown(): Promise<void>;
}

type Serve = (request: Request, address: string) => Response | Promise<Response>;

/** Half of the descriptors that the process may open; a connection takes some 30 KB. */
const BOUNDS: ConnectionBounds = { max: 2_048, firstMs: 15_000, idleMs: 120_000 };
const SWEEP_MS = 1_000;
/** Milliseconds until the next accept after a failed one. */
const AGAIN_MS = 100;
/** Milliseconds for a client to read the last answer. */
const LINGER_MS = 1_000;

/** Listens at an address. Throws Fault `unavailable` where that fails. */
export function listen(
  at: { readonly hostname: string; readonly port: number },
  serve: Serve,
  bounds: Partial<ConnectionBounds> = {},
): Listener {
  const serveOne = oneConnection();
  const listener = begin(at);
  const connections = makeConnections({ ...BOUNDS, ...bounds }, now);
  const open = new Set<Served>();
  let stopped = false;
  let stopSweep = (): void => undefined;
  const sweep = (): void => {
    connections.sweep();
    stopSweep = after(SWEEP_MS, sweep);
  };
  sweep();
  const accepting = (async (): Promise<void> => {
    while (!stopped) {
      const conn = await listener.accept().catch(() => undefined);
      if (conn !== undefined) hold(conn, { serve, serveOne, connections, open });
      // The connection has already ended, or no descriptor is left: neither ends the process.
      else if (!stopped) await new Promise<void>((resolve) => after(AGAIN_MS, resolve));
    }
  })();
  return Object.freeze<Listener>({
    port: listener.addr.port,
    async shutdown(): Promise<void> {
      stopped = true;
      listener.close();
      await accepting;
      await Promise.all([...open].map((each) => each.shutdown()));
      stopSweep();
    },
  });
}

function hold(
  conn: Deno.TcpConn,
  { serve, serveOne, connections, open }: {
    readonly serve: Serve;
    readonly serveOne: ServeOne;
    readonly connections: Connections;
    readonly open: Set<Served>;
  },
): void {
  const { hostname } = conn.remoteAddr;
  const cut = makeCut();
  const place = connections.take(callerOf(hostname), cut.now);
  if (place === undefined) return conn.close();
  const answer = async (request: Request, info: Info): Promise<Response> => {
    place.asked();
    try {
      const response = await serve(request, hostname);
      if (isStream(response)) info.completed.then(place.answered, place.answered);
      else place.answered();
      // Deno would wait for the rest of the refused body.
      if (response.headers.get("connection") === "close") after(LINGER_MS, cut.now);
      return response;
    } catch (error) {
      place.answered();
      throw error;
    }
  };
  const served = serveOne(conn, cut.signal, answer, failed, () => undefined);
  open.add(served);
  const over = (): void => {
    open.delete(served);
    place.over();
  };
  served.finished.then(over, over);
}

/** The answer where a route failed; the route has noted why. */
function failed(): Response {
  return new Response(null, { status: 500 });
}

/** A stream is in progress until its end, any other answer until it is handed over. */
function isStream(response: Response): boolean {
  return (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
}

interface Cut {
  /** Ends the connection; does nothing where it has ended. */
  now(): void;
  readonly signal: Signal;
}

/** An `AbortSignal` would throw uncaught where the connection ends at the same moment. */
function makeCut(): Cut {
  let end = (): void => undefined;
  return Object.freeze<Cut>({
    now(): void {
      try {
        end();
      } catch (error) {
        if (!(error instanceof Deno.errors.BadResource)) throw error;
      }
    },
    signal: { addEventListener: (_name, run) => void (end = run) },
  });
}

interface Signal {
  addEventListener(name: "abort", run: () => void): void;
}

interface Info {
  /** Settles when the answer was sent, or its reader has gone. */
  readonly completed: Promise<void>;
}

interface Served {
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

type ServeOne = (
  conn: Deno.Conn,
  signal: Signal,
  answer: (request: Request, info: Info) => Promise<Response>,
  onError: () => Response,
  onListen: () => void,
) => Served;

/** Deno's server of one connection. */
function oneConnection(): ServeOne {
  const inner: unknown = Reflect.get(Deno, Reflect.get(Deno, "internal"));
  const found: unknown = typeof inner === "object" && inner !== null
    ? Reflect.get(inner, "serveHttpOnConnection")
    : undefined;
  if (typeof found !== "function") {
    throw new Fault(
      "unavailable",
      `Cannot serve: Deno ${Deno.version.deno} does not serve one connection at a time; Remit is made for Deno 2.9.6`,
    );
  }
  return (...given) => found(...given);
}

function begin(at: { readonly hostname: string; readonly port: number }): Deno.TcpListener {
  try {
    return Deno.listen({ ...at });
  } catch (cause) {
    const why = cause instanceof Deno.errors.AddrInUse
      ? "another program listens there"
      : cause instanceof Deno.errors.AddrNotAvailable
      ? "this machine has no such address"
      : cause instanceof Deno.errors.PermissionDenied
      ? "only root may listen at this port"
      : undefined;
    if (why === undefined) throw cause;
    const other = `${at.hostname}:${at.port === 65_535 ? at.port - 1 : at.port + 1}`;
    throw new Fault(
      "unavailable",
      `Cannot serve at ${at.hostname}:${at.port}: ${why}; give another address, such as ${other}`,
      { cause },
    );
  }
}
