/**
 * The gateway's routes. A request passes, in this order: Remit's headers, Host, Origin, the rate of
 * its address; then its route's checks. Errors reveal nothing about Remit.
 * @module
 */
import { type Context, Hono } from "hono";
import { type After, type HeldBody, MAX_BODY, readBody } from "./body.ts";
import { isLoopback } from "../../contracts/base/loopback.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Rates } from "./rates.ts";

/** A connection, as the server reports it. */
export interface Connection {
  /** The peer's address, without its port. */
  readonly address: string;
  /** The name under which its requests are counted. */
  readonly caller: string;
  /** Room for the request's body; absent: unbounded. */
  readonly body?: HeldBody;
}

/** Hono's environment of the routes. */
export type Env = { Bindings: Connection };
/** A request in progress. */
export type Ask = Context<Env>;
/** An app that routes are added to. */
export type Routes = Hono<Env>;

/** Refuses with a status and a plain sentence. */
export function refuse(
  c: Ask,
  status: 400 | 401 | 403 | 404 | 405 | 408 | 413 | 429 | 500 | 503,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return c.json({ error }, status, headers);
}

/** Refuses a caller that sends too many requests. */
export function tooMany(c: Ask): Response {
  return refuse(c, 429, "too many requests", { "retry-after": "10" });
}

/** One refusal both for what does not exist and for what belongs to others. */
export function nothing(c: Ask): Response {
  return refuse(c, 404, "there is nothing here");
}

/** Limits of a body. */
export interface BodyBounds {
  readonly bodyMs: number;
  readonly after: After;
  /** In bytes; absent: 4 MiB. */
  readonly max?: number;
}

/** Reads a request's body, or returns the response that refuses the body. */
export async function wholeBody(
  c: Ask,
  { bodyMs, after, max = MAX_BODY }: BodyBounds,
): Promise<Uint8Array<ArrayBuffer> | Response> {
  const body = await readBody(c.req.raw, { bodyMs, after, max }, c.env.body);
  switch (body.kind) {
    case "tooLarge":
      return refuse(c, 413, `the body is longer than ${max / 1_048_576} MiB`, {
        connection: "close",
      });
    case "tooSlow":
      return refuse(c, 408, "the body took too long", { connection: "close" });
    case "crowded":
      return refuse(c, 503, "too much is being sent just now", {
        ...{ "retry-after": "10", connection: "close" },
      });
    case "broken":
      return refuse(c, 400, "the body broke off");
    case "bytes":
      return body.bytes;
  }
}

/** Accepts the values of Host and Origin that are this server's. */
export interface Door {
  /** The `Host` header. */
  host(value: string | undefined): boolean;
  /** The `Origin` header; undefined, from a request without a page, is accepted. */
  origin(value: string | undefined): boolean;
}

/** The door of a server at `address` (`host:port`), with the operator's hosts and origins. */
export function makeDoor(
  address: string,
  more: { readonly hosts: readonly string[]; readonly origins: readonly string[] },
): Door {
  const url = new URL(`http://${address}`);
  // This machine has three names; any other name that resolves to it is refused.
  const own = isLoopback(url.hostname)
    ? ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${portOf(url)}`)
    : [`${url.hostname}:${portOf(url)}`];
  const hosts = new Set([...own, ...more.hosts].map((each) => withPort(each.toLowerCase(), url)));
  const origins = new Set([...own.map((each) => `http://${each}`), ...more.origins].map(originOf));
  return Object.freeze<Door>({
    host: (value) => value !== undefined && hosts.has(withPort(value.toLowerCase(), url)),
    origin: (value) => value === undefined || origins.has(originOf(value)),
  });
}

function portOf(url: URL): string {
  return url.port === "" ? "80" : url.port;
}

/** A Host header omits port 80. */
function withPort(host: string, own: URL): string {
  return portOf(own) === "80" && !/:\d+$/.test(host) ? `${host}:80` : host;
}

function originOf(text: string): string {
  try {
    const { origin } = new URL(text);
    return origin === "null" ? `no origin: ${text}` : origin;
  } catch (error) {
    if (error instanceof TypeError) return `no origin: ${text}`;
    throw error;
  }
}

/** The checks of every request, and the function that adds the routes behind them. */
export interface AppParts {
  readonly door: Door;
  /** By address. */
  readonly rate: Rates;
  add(app: Routes): void;
  note(text: string): void;
}

/** Default headers of every answer. */
const HEADERS: readonly (readonly [string, string])[] = [
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cache-control", "no-store"],
];

/** Makes the app: checks, then the added routes. */
export function makeApp({ door, rate, add, note }: AppParts): Routes {
  const app: Routes = new Hono<Env>();
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of HEADERS) {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    }
  });
  app.use(async (c, next) => {
    if (!door.host(c.req.header("host"))) return refuse(c, 403, "this host is not served here");
    if (!door.origin(c.req.header("origin"))) return refuse(c, 403, "this origin is not let in");
    if (!rate.take(c.env.caller)) return tooMany(c);
    return await next();
  });
  app.get("/healthz", (c) => c.json({ ok: true }));
  add(app);
  app.notFound(nothing);
  app.onError((error, c) => {
    // A flood of requests must not flood the operator with notes.
    if (error instanceof Fault && error.code === "rateLimited") return tooMany(c);
    note(`a request failed: ${error.message}`);
    return refuse(c, 500, "the request failed");
  });
  return app;
}
