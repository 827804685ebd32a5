/**
 * The routes of programs: `/mcp`, `/a2a` and the card, `/hooks/NAME`, and the service's own state.
 * Used by over_http.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import {
  type Ask,
  type BodyBounds,
  nothing,
  refuse,
  type Routes,
  tooMany,
  wholeBody,
} from "./app.ts";
import type { Rates } from "./rates.ts";
import { type FleetAnswer, FleetAsked, type ServeHolder } from "../../contracts/wire/wire_serve.ts";
import type { HookAnswer, HookCall, PeerHolder } from "../../contracts/wire/wire_a2a.ts";
import { isLoopback } from "../../contracts/base/loopback.ts";

const BEARER = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i;

/** The bearer token of a header (RFC 6750); undefined for none, and above `max` characters. */
function tryBearer(header: string | undefined, max: number): string | undefined {
  const token = BEARER.exec(header ?? "")?.[1];
  return token === undefined || token.length > max ? undefined : token;
}

/** The holder of a token; undefined for a wrong token, a response for a caller with too many. */
async function holderOf<T extends object>(
  c: Ask,
  { admit, failedAttempts }: { admit(): Promise<T>; readonly failedAttempts: Rates },
): Promise<T | Response | undefined> {
  try {
    return await admit();
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "denied") throw error;
    // Only wrong tokens are counted.
    return failedAttempts.take(c.env.caller) ? undefined : tooMany(c);
  }
}

/** The server of `/mcp`, and its checks. */
export interface McpParts {
  readonly rates: { readonly token: Rates; readonly failedAttempts: Rates };
  /** The holder of a token. Rejects `denied`. */
  admit(token: string): Promise<ServeHolder>;
  mcp(
    request: Request,
    body: unknown,
    caller: { readonly holder: string; readonly token: string },
  ): Promise<Response>;
  readonly bounds: BodyBounds;
}

const CHALLENGE = 'Bearer realm="remit"';
const MAX_HOST_TOKEN = 512;

/** Adds `/mcp`: hosts of the Model Context Protocol, each request with its token. */
export function serveMcp(app: Routes, { rates, admit, mcp, bounds }: McpParts): void {
  app.on(["GET", "POST", "DELETE"], "/mcp", async (c) => {
    const given = c.req.header("authorization");
    const token = tryBearer(given, MAX_HOST_TOKEN);
    const challenge = (more: string): Response =>
      refuse(c, 401, "a token is needed", { "www-authenticate": `${CHALLENGE}${more}` });
    if (given === undefined) return challenge("");
    if (token === undefined) return challenge(', error="invalid_request"');
    const holder = await holderOf(c, {
      admit: () => admit(token),
      failedAttempts: rates.failedAttempts,
    });
    if (holder === undefined) return challenge(', error="invalid_token"');
    if (holder instanceof Response) return holder;
    if (!rates.token.take(holder.holder)) return tooMany(c);
    const { raw } = c.req;
    if (raw.method !== "POST") return await mcp(raw, undefined, { ...holder, token });
    const bytes = await wholeBody(c, bounds);
    if (bytes instanceof Response) return bytes;
    // The answer may take long; release the body's room meanwhile.
    c.env.body?.over();
    const { method, url, headers, signal } = raw;
    const whole = new Request(url, { method, headers, signal, body: bytes });
    return await mcp(whole, tryJson(bytes), { ...holder, token });
  });
  app.all(
    "/mcp",
    (c) => refuse(c, 405, "this method is not served", { allow: "GET, POST, DELETE" }),
  );
}

/** Undefined for text that is not JSON: the protocol's answer reports it. */
function tryJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The protocol of peers. Without a holder it answers only requests for the card. */
export interface Peers {
  fetch(
    request: Request,
    body: Uint8Array | undefined,
    caller: { readonly token: string | null; readonly holder?: PeerHolder },
  ): Promise<Response>;
}

/** The server of peers, and its checks. */
export interface A2aParts {
  readonly rates: { readonly peer: Rates; readonly failedAttempts: Rates };
  /** The peer that a credential proves. Rejects `denied`. */
  admit(token: string): Promise<PeerHolder>;
  readonly peers: Peers;
  readonly bounds: BodyBounds;
}

/** Maximum characters of a credential, which may be a JWT. */
const MAX_PEER_TOKEN = 16_384;
const PATHS = ["/.well-known/agent-card.json", "/a2a", "/a2a/*"] as const;

/** Adds `/a2a` and the card: peers, each request with its credential. */
export function serveA2a(app: Routes, { rates, admit, peers, bounds }: A2aParts): void {
  const serve = async (c: Ask): Promise<Response> => {
    const { raw } = c.req;
    const token = tryBearer(c.req.header("authorization"), MAX_PEER_TOKEN);
    // The body of an unknown caller is not read.
    if (token === undefined) return await peers.fetch(raw, undefined, { token: null });
    const holder = await holderOf(c, {
      admit: () => admit(token),
      failedAttempts: rates.failedAttempts,
    });
    if (holder instanceof Response) return holder;
    if (holder === undefined) return await peers.fetch(raw, undefined, { token });
    if (!rates.peer.take(holder.peer, holder.perMinute)) return tooMany(c);
    if (raw.body === null) return await peers.fetch(raw, undefined, { token, holder });
    const bytes = await wholeBody(c, bounds);
    if (bytes instanceof Response) return bytes;
    // The answer may take long; release the body's room meanwhile.
    c.env.body?.over();
    return await peers.fetch(raw, bytes, { token, holder });
  };
  for (const path of PATHS) app.all(path, serve);
}

/** The server of webhooks, and its checks. */
export interface HookParts {
  /** By path and address. */
  readonly rates: Rates;
  hook(call: HookCall): Promise<HookAnswer>;
  readonly bounds: BodyBounds;
}

const PATH = /^\/hooks\/[A-Za-z0-9_-]{1,64}$/;
const MAX_HEADERS = 64;
const MAX_NAME = 128;
const MAX_VALUE = 8_192;
/** Headers not meant for the webhook: never passed on. */
const PRIVATE: ReadonlySet<string> = new Set(["cookie", "proxy-authorization"]);

/** Adds `/hooks/NAME`. An unknown path and a wrong signature get one answer. */
export function serveHooks(app: Routes, { rates, hook, bounds }: HookParts): void {
  app.post("/hooks/*", async (c) => {
    const { path } = c.req;
    if (!PATH.test(path)) return nothing(c);
    if (!rates.take(`${path} ${c.env.caller}`)) return tooMany(c);
    const bytes = await wholeBody(c, bounds);
    if (bytes instanceof Response) return bytes;
    try {
      const { result } = await hook({
        ...{ path, headers: headersOf(c.req.raw.headers), body: bytes.toBase64() },
      });
      switch (result) {
        case "taken":
          return c.json({ ok: true }, 202);
        case "duplicate":
          return c.json({ ok: true, duplicate: true }, 200);
        case "late":
          return refuse(c, 400, "the delivery is too old");
        case "unknown":
          return nothing(c);
      }
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "rateLimited") return tooMany(c);
      if (error.code === "unavailable" || error.code === "gone") {
        return refuse(c, 503, "nothing is taken just now", { "retry-after": "30" });
      }
      throw error;
    }
  });
}

function headersOf(headers: Headers): Record<string, string> {
  const kept = [...headers].filter(([name, value]) =>
    name.length <= MAX_NAME && value.length <= MAX_VALUE && !PRIVATE.has(name)
  );
  return Object.fromEntries(kept.slice(0, MAX_HEADERS));
}

/** The server of a person's commands over all kernels, and its checks. */
export interface FleetParts {
  readonly rates: { readonly token: Rates; readonly failedAttempts: Rates };
  fleet(
    asked: { readonly token: string; readonly op: string; readonly body: Json },
  ): Promise<FleetAnswer>;
  readonly bounds: BodyBounds;
}

/** Adds `/fleet`: `remit --fleet URL`, each request with its token. */
export function serveFleet(app: Routes, { rates, fleet, bounds }: FleetParts): void {
  app.post("/fleet", async (c) => {
    const token = tryBearer(c.req.header("authorization"), MAX_HOST_TOKEN);
    if (token === undefined) {
      return refuse(c, 401, "a token is needed", { "www-authenticate": CHALLENGE });
    }
    // The kernel checks the token with the question; this limit by caller bounds unknown callers.
    if (!rates.token.take(c.env.caller)) return tooMany(c);
    const bytes = await wholeBody(c, bounds);
    if (bytes instanceof Response) return bytes;
    const asked = FleetAsked.safeParse(tryJson(bytes));
    if (!asked.success) return refuse(c, 400, "this is no question of remit's");
    const answer = await holderOf(c, {
      admit: () => fleet({ token, ...asked.data }),
      failedAttempts: rates.failedAttempts,
    });
    if (answer instanceof Response) return answer;
    return answer === undefined
      ? refuse(c, 401, "a token is needed", { "www-authenticate": CHALLENGE })
      : c.json(answer);
  });
}

/** The server of the service's state, and its checks. */
export interface StateParts {
  ready(): Promise<{ readonly ready: boolean; readonly why: string }>;
  /** OpenMetrics text; absent: not served. */
  readonly metrics?: () => Promise<string>;
  /** JSON text of a JWK set; absent: not served. */
  readonly jwks?: () => Promise<string>;
  admit(token: string): Promise<ServeHolder>;
  readonly failedAttempts: Rates;
}

const METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Adds `/readyz`, `/metrics` and the service's public signing keys. */
export function serveState(app: Routes, parts: StateParts): void {
  app.get("/readyz", async (c) => {
    const { ready, why } = await parts.ready();
    return ready ? c.json({ ready: true }) : c.json({ ready: false, why }, 503);
  });
  const { metrics, jwks } = parts;
  if (metrics !== undefined) {
    app.get("/metrics", async (c) => {
      const refused = fromHere(c) ? undefined : await whyRefused(c, parts);
      if (refused !== undefined) return refused;
      return c.body(await metrics(), 200, { "content-type": METRICS });
    });
  }
  if (jwks !== undefined) {
    app.get("/.well-known/jwks.json", async (c) =>
      c.body(await jwks(), 200, {
        "content-type": "application/jwk-set+json",
        "cache-control": "public, max-age=300",
      }));
  }
}

/** Whether a program on this machine asks, and not a proxy for a caller elsewhere. */
function fromHere(c: Ask): boolean {
  const host = c.req.header("host") ?? "";
  const forwarded = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];
  return isLoopback(hostnameOf(c.env.address)) && isLoopback(host.replace(/:\d+$/, "")) &&
    forwarded.every((name) => c.req.header(name) === undefined);
}

/** An address in the notation of `URL.hostname`. */
function hostnameOf(address: string): string {
  const url = `http://${address.includes(":") ? `[${address}]` : address}`;
  return URL.canParse(url) ? new URL(url).hostname : "";
}

async function whyRefused(c: Ask, parts: StateParts): Promise<Response | undefined> {
  const token = tryBearer(c.req.header("authorization"), MAX_HOST_TOKEN);
  if (token === undefined) return nothing(c);
  const holder = await holderOf(c, {
    admit: () => parts.admit(token),
    failedAttempts: parts.failedAttempts,
  });
  if (holder instanceof Response) return holder;
  if (holder === undefined) return nothing(c);
  return holder.profile === "anonymous" ? nothing(c) : undefined;
}
