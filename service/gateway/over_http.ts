/**
 * Serves hosts, peers and people at an address: the routes over the protocols over the starter.
 * @module
 */
import type { ServeOpen } from "../../contracts/wire_serve.ts";
import { callerOf, makeRates, type Rates, rememberAdmitted } from "./rates.ts";
import { type Peers, serveA2a, serveHooks, serveMcp, serveState } from "./routes.ts";
import { type Door, makeApp, makeDoor, type Routes } from "./app.ts";
import { type After, makeBodyRoom } from "./body.ts";
import type { ServiceAsks, Starter } from "./starter.ts";
import { Fault } from "../../contracts/fault.ts";
import type { Json } from "../../contracts/json.ts";
import type { Listening } from "./gateway.ts";

// Which surfaces an address has, each with its checks.

/** The protocol of hosts, whoever speaks it. */
export interface Protocol {
  fetch(
    request: Request,
    body: unknown,
    caller: { readonly holder: string; readonly token: string },
  ): Promise<Response>;
  close(): Promise<void>;
}

/** What is served beside MCP. */
export interface ServiceRoutes {
  readonly asks: ServiceAsks;
  /** Adds the page's routes. */
  page(app: Routes, parts: PageDoor): void;
}

/** What the page's routes are handed. */
export interface PageDoor {
  readonly door: Door;
  readonly https: boolean;
  readonly wrong: Rates;
  readonly bodyMs: number;
  readonly after: After;
}

/** What surfaces are made of. */
export interface SurfaceParts {
  readonly starter: Starter;
  readonly open: ServeOpen;
  readonly protocol: Protocol;
  readonly peers: Peers | undefined;
  readonly service: ServiceRoutes | undefined;
  readonly door: Door;
  readonly bounds: { readonly perToken: number; readonly bodyMs: number };
  now(): number;
  readonly after: After;
}

/** Wrong tokens, codes and signatures a minute from one address. */
const WRONG = 20;
/** Deliveries a minute at one webhook from one address. */
const HOOKS = 120;
const HOOK_BYTES = 1_048_576;
const ONLY_MCP = { mcp: true, a2a: false, hooks: false, page: false, metrics: false };

/** Makes them. */
function surfacesOf(parts: SurfaceParts): readonly ((app: Routes) => void)[] {
  const { starter, open, protocol, peers, service, door, now, after } = parts;
  const { perToken, bodyMs } = parts.bounds;
  const serves = service === undefined ? ONLY_MCP : open.serves ?? ONLY_MCP;
  const bounds = { bodyMs, after };
  const wrong = makeRates(WRONG, now);
  const surfaces: ((app: Routes) => void)[] = [];
  if (serves.mcp) {
    surfaces.push((app) =>
      serveMcp(app, {
        rates: { token: makeRates(perToken, now), wrong },
        admit: starter.admit,
        mcp: (request, body, caller) => protocol.fetch(request, body, caller),
        bounds,
      })
    );
  }
  if (service === undefined || open.serves === undefined) return surfaces;
  const { asks } = service;
  surfaces.push((app) =>
    serveState(app, {
      ...{ ready: asks.ready, admit: starter.admit, wrong },
      ...(serves.metrics ? { metrics: asks.metrics } : {}),
      ...(serves.a2a ? { jwks: asks.jwks } : {}),
    })
  );
  if (peers !== undefined) {
    const rates = { peer: makeRates(perToken, now), wrong };
    const admit = rememberAdmitted(asks.a2aAdmit, now);
    surfaces.push((app) => serveA2a(app, { rates, admit, peers, bounds }));
  }
  if (serves.hooks) {
    const rates = makeRates(HOOKS, now);
    surfaces.push((app) =>
      serveHooks(app, { rates, hook: asks.hook, bounds: { ...bounds, most: HOOK_BYTES } })
    );
  }
  if (serves.page) {
    const https = open.https === true;
    surfaces.push((app) => service.page(app, { door, https, wrong, ...bounds }));
  }
  return surfaces;
}

/** The protocol of peers. */
export interface PeerProtocol extends Peers {
  /** Hears what the starter tells. */
  heard(op: string, body: Json): void;
  /** Ends its streams. */
  close(): Promise<void>;
}

/** What is served beside MCP. */
export interface ServiceParts extends ServiceRoutes {
  makePeers(): PeerProtocol;
}

/** What serving takes. */
export interface OverHttpParts {
  readonly starter: Starter;
  readonly open: ServeOpen;
  makeProtocol(most: { readonly sessions: number; readonly perHolder: number }): Protocol;
  /** Absent: MCP alone is served. */
  readonly service?: ServiceParts;
  listen(
    at: { readonly hostname: string; readonly port: number },
    serve: (request: Request, address: string) => Response | Promise<Response>,
    bounds: { readonly firstMs?: number },
  ): { readonly port: number; shutdown(): Promise<void> };
  now(): number;
  readonly after: After;
}

const BOUNDS = { sessions: 64, perToken: 1_200, perAddress: 2_400, bodyMs: 15_000 };
/** Bytes of bodies at once: each is in the process some six times while it is asked about. */
const BODIES = 33_554_432;
/** Sessions of one token, of all that there may be. */
const SHARE = 4;
/** Milliseconds that what is under way may take when the gateway ends. */
const STOP_MS = 5_000;
/** Milliseconds for connections to close after that. */
const LINGER_MS = 250;

/** Listens and serves. */
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
  const room = makeBodyRoom(BODIES);
  let under = 0;
  let idle = (): void => undefined;
  const routes: { app?: Routes } = {};
  const answer = async (request: Request, address: string): Promise<Response> => {
    const { app } = routes;
    if (app === undefined) return new Response(null, { status: 503 });
    // A stream of a GET is never over by itself: nobody waits for it.
    const caller = callerOf(address);
    if (request.method !== "POST") return await app.fetch(request, { address, caller });
    under += 1;
    const body = room.hold(caller);
    const over = (): void => {
      under -= 1;
      if (under === 0) idle();
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
    surfaces: surfacesOf({ starter, open, protocol, peers, service, door, bounds, now, after }),
  });
  return Object.freeze<Listening>({
    address,
    heard: (op, body) => peers?.heard(op, body),
    async stop(): Promise<void> {
      const over = listener.shutdown();
      const late = Promise.withResolvers<void>();
      idle = () => late.resolve();
      const stop = after(open.drainMs ?? STOP_MS, () => late.resolve());
      // A peer's stream is over when its task is, which may be tomorrow: it asks again, and so does who waits.
      await peers?.close();
      if (under === 0) late.resolve();
      await late.promise;
      stop();
      await protocol.close();
      // Streams that nobody closes end with the process.
      const gone = Promise.withResolvers<void>();
      const give = after(LINGER_MS, gone.resolve);
      await Promise.race([over, gone.promise]);
      give();
    },
  });
}

/** Whether a peer watches: that ends when what is watched does, which may be in days. */
function isWatch(request: Request, response: Response): boolean {
  return new URL(request.url).pathname.startsWith("/a2a") &&
    (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
}

/** The same response; `over` is called once, when its body was read to its end or nobody reads it any more. */
function untilRead(response: Response, over: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) {
    over();
    return response;
  }
  const reader = body.getReader();
  let told = false;
  const tell = (): void => {
    if (!told) over();
    told = true;
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
