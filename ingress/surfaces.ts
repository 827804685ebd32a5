/** Which surfaces an address has, each with its checks. @module */
import type { ServeOpen } from "../contracts/wire_serve.ts";
import { rememberAdmitted } from "./admitted.ts";
import { serveA2a } from "./a2a_routes.ts";
import type { Peers } from "./a2a_routes.ts";
import type { Routes } from "./answers.ts";
import type { After } from "./body.ts";
import { serveHooks } from "./hook_routes.ts";
import type { Door } from "./host_origin_check.ts";
import { serveMcp } from "./mcp_routes.ts";
import { makeRates, type Rates } from "./rate_limit.ts";
import type { ServiceAsks } from "./service_asks.ts";
import type { Starter } from "./sessions.ts";
import { serveState } from "./state_routes.ts";

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
export function surfacesOf(parts: SurfaceParts): readonly ((app: Routes) => void)[] {
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
