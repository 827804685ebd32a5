/**
 * Serves hosts, peers and people at an address: routes over protocols over the starter. Used by
 * main.ts and service/gateway/page/routes.ts.
 * @module
 */
import { FLEET_BYTES, type ServeOpen } from "../../contracts/wire/wire_serve.ts";
import { callerOf, makeRates, type Rates, rememberAdmitted } from "./rates.ts";
import { type Peers, serveA2a, serveFleet, serveHooks, serveMcp, serveState } from "./routes.ts";
import { type Door, makeApp, makeDoor, type Routes } from "./app.ts";
import { type After, makeBodyRoom } from "./body.ts";
import type { ServiceAsks, Starter } from "./starter.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import type { Listening } from "./gateway.ts";

/** The protocol of MCP hosts. */
export interface Protocol {
  fetch(
    request: Request,
    body: unknown,
    caller: { readonly holder: string; readonly token: string },
  ): Promise<Response>;
  close(): Promise<void>;
}

/** The protocol of A2A peers. */
export interface PeerProtocol extends Peers {
  /** Receives what the starter tells. */
  heard(op: string, body: Json): void;
  /** Ends its streams. */
  close(): Promise<void>;
}

/** The checks of the page's routes. */
export interface PageDoor {
  readonly door: Door;
  readonly https: boolean;
  readonly wrong: Rates;
  readonly bodyMs: number;
  readonly after: After;
}

/** The powers of {@link serveOverHttp}, and the protocols that it serves. */
export interface OverHttpParts {
  readonly starter: Starter;
  readonly open: ServeOpen;
  makeProtocol(most: { readonly sessions: number; readonly perHolder: number }): Protocol;
  /** What is served besides MCP; absent: nothing. */
  readonly service?: {
    readonly asks: ServiceAsks;
    makePeers(): PeerProtocol;
    /** Adds the page's routes. */
    page(app: Routes, parts: PageDoor): void;
  };
  listen(
    at: { readonly hostname: string; readonly port: number },
    serve: (request: Request, address: string) => Response | Promise<Response>,
    bounds: { readonly firstMs?: number },
  ): { readonly port: number; shutdown(): Promise<void> };
  now(): number;
  readonly after: After;
}

/** Maximum wrong tokens, codes and signatures a minute from one address. */
const MAX_WRONG = 20;
/** Maximum deliveries a minute at one webhook from one address. */
const MAX_DELIVERIES = 120;
const HOOK_BYTES = 1_048_576;

/** Adds the routes of the surfaces that `open` enables, each with its checks. */
function addSurfaces(
  app: Routes,
  { starter, open, service, now, after }: OverHttpParts,
  { protocol, peers, door, perToken, bodyMs }: {
    readonly protocol: Protocol;
    readonly peers: Peers | undefined;
    readonly door: Door;
    readonly perToken: number;
    readonly bodyMs: number;
  },
): void {
  const bounds = { bodyMs, after };
  const wrong = makeRates(MAX_WRONG, now);
  const serves = service === undefined ? undefined : open.serves;
  if (serves?.mcp !== false) {
    serveMcp(app, {
      ...{ bounds, admit: starter.admit, mcp: protocol.fetch },
      rates: { token: makeRates(perToken, now), wrong },
    });
  }
  if (service === undefined || serves === undefined) return;
  const { asks } = service;
  serveState(app, {
    ...{ ready: asks.ready, admit: starter.admit, wrong },
    ...(serves.metrics ? { metrics: asks.metrics } : {}),
    ...(serves.a2a ? { jwks: asks.jwks } : {}),
  });
  if (peers !== undefined) {
    serveA2a(app, {
      ...{ bounds, peers, admit: rememberAdmitted(asks.a2aAdmit, now) },
      rates: { peer: makeRates(perToken, now), wrong },
    });
  }
  if (serves.hooks) {
    const rates = makeRates(MAX_DELIVERIES, now);
    serveHooks(app, { rates, hook: asks.hook, bounds: { ...bounds, max: HOOK_BYTES } });
  }
  if (serves.fleet) {
    serveFleet(app, {
      rates: { token: makeRates(perToken, now), wrong },
      ...{ fleet: asks.fleet, bounds: { ...bounds, max: FLEET_BYTES } },
    });
  }
  if (serves.page) service.page(app, { door, https: open.https === true, wrong, ...bounds });
}

const BOUNDS = { sessions: 64, perToken: 1_200, perAddress: 2_400, bodyMs: 15_000 };
/** Maximum bytes of all bodies at once: the process holds each some six times. */
const MAX_BODIES = 33_554_432;
/** The divisor for one token's share of all sessions: a quarter. */
const SHARE = 4;
/** Milliseconds for requests in progress when the gateway ends. */
const STOP_MS = 5_000;
/** Milliseconds for connections to close after that. */
const LINGER_MS = 250;

/** Listens at the address of `open`, and serves. */
export function serveOverHttp(parts: OverHttpParts): Listening {
  const { starter, open, now, after, service } = parts;
  const { listen: at } = open;
  if (at === undefined) throw new Fault("invalidInput", "Cannot serve: no address was given");
  const bounds = open.bounds ?? BOUNDS;
  const protocol = parts.makeProtocol({
    sessions: bounds.sessions,
    perHolder: Math.max(1, Math.ceil(bounds.sessions / SHARE)),
  });
  const peers = open.serves?.a2a === true ? service?.makePeers() : undefined;
  const room = makeBodyRoom(MAX_BODIES);
  let inFlight = 0;
  let idle = (): void => undefined;
  const routes: { app?: Routes } = {};
  const answer = async (request: Request, address: string): Promise<Response> => {
    const { app } = routes;
    if (app === undefined) return new Response(null, { status: 503 });
    // Shutdown waits for no GET: a GET's stream never ends by itself.
    const caller = callerOf(address);
    if (request.method !== "POST") return await app.fetch(request, { address, caller });
    inFlight += 1;
    const body = room.hold(caller);
    const over = (): void => {
      inFlight -= 1;
      if (inFlight === 0) idle();
    };
    try {
      const response = await app.fetch(request, { address, caller, body });
      if (!isWatch(request, response)) return untilRead(response, over);
      over();
      return response;
    } catch (error) {
      over();
      throw error;
    } finally {
      body.over();
    }
  };
  const { headMs } = open.bounds ?? {};
  const listener = parts.listen(at, answer, headMs === undefined ? {} : { firstMs: headMs });
  const name = at.hostname.includes(":") ? `[${at.hostname}]` : at.hostname;
  const address = `${name}:${listener.port}`;
  const door = makeDoor(address, open);
  routes.app = makeApp({
    ...{ door, rate: makeRates(bounds.perAddress, now), note: starter.note },
    add: (app) => addSurfaces(app, parts, { protocol, peers, door, ...bounds }),
  });
  return Object.freeze<Listening>({
    address,
    heard: (op, body) => peers?.heard(op, body),
    async stop(): Promise<void> {
      const over = listener.shutdown();
      const late = Promise.withResolvers<void>();
      idle = () => late.resolve();
      const stop = after(open.drainMs ?? STOP_MS, () => late.resolve());
      // A peer's stream ends with its task, which may take days: the peer asks again.
      await peers?.close();
      if (inFlight === 0) late.resolve();
      await late.promise;
      stop();
      await protocol.close();
      // Streams that no client closes end with the process.
      const gone = Promise.withResolvers<void>();
      const give = after(LINGER_MS, gone.resolve);
      await Promise.race([over, gone.promise]);
      give();
    },
  });
}

/** Whether a peer watches an exchange: such a stream ends with the exchange, perhaps in days. */
function isWatch(request: Request, response: Response): boolean {
  return new URL(request.url).pathname.startsWith("/a2a") &&
    (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
}

/** The same response, which calls `over` once when nobody reads its body any longer. */
function untilRead(response: Response, over: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) {
    over();
    return response;
  }
  const reader = body.getReader();
  let ended = false;
  const tell = (): void => {
    if (!ended) over();
    ended = true;
  };
  const whole = new ReadableStream<Uint8Array>({
    async pull(controller): Promise<void> {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        tell();
        controller.close();
      } catch (error) {
        tell();
        controller.error(error);
      }
    },
    async cancel(why): Promise<void> {
      tell();
      await reader.cancel(why);
    },
  });
  return new Response(whole, { status, statusText, headers });
}
