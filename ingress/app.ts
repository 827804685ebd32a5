/**
 * The gateway's routes. A request passes, in this order: headers of ours, Host, Origin, rate of its address, token, rate
 * of its token, body; then the protocol. Nothing of ours is told in an error. Issue 6, Export.
 * @module
 */
import { type Context, Hono } from "hono";
import { Fault } from "../contracts/fault.ts";
import type { ServeHolder } from "../contracts/wire_serve.ts";
import { type After, readBody } from "./body.ts";
import type { Door } from "./let_in.ts";
import type { Rates } from "./rates.ts";

/** What the routes are made of. */
export interface AppParts {
  readonly door: Door;
  readonly rates: { readonly address: Rates; readonly token: Rates; readonly wrong: Rates };
  /** Whose a token is. Rejects with `denied`. */
  admit(token: string): Promise<ServeHolder>;
  mcp(
    request: Request,
    body: unknown,
    caller: { readonly holder: string; readonly token: string },
  ): Promise<Response>;
  readonly bodyMs: number;
  readonly after: After;
  note(text: string): void;
}

/** What the server says of a connection. */
export interface Connection {
  /** The peer's address, without its port. */
  readonly address: string;
}

const HEADERS: readonly (readonly [string, string])[] = [
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["cross-origin-resource-policy", "same-origin"],
];
const CHALLENGE = 'Bearer realm="remit"';
/** A token as RFC 6750 writes it. */
const BEARER = /^Bearer ([A-Za-z0-9._~+/=-]{1,512})$/i;

type Env = { Bindings: Connection };

/** Makes the routes. */
export function makeApp(parts: AppParts): Hono<Env> {
  const { door, rates } = parts;
  const app = new Hono<Env>();
  const refuse = (
    c: Context<Env>,
    status: 400 | 401 | 403 | 404 | 405 | 408 | 413 | 429 | 500,
    error: string,
    headers: Readonly<Record<string, string>> = {},
  ): Response => c.json({ error }, status, headers);

  app.use(async (c, next) => {
    await next();
    for (const [name, value] of HEADERS) c.res.headers.set(name, value);
    if (!c.res.headers.has("cache-control")) c.res.headers.set("cache-control", "no-store");
  });
  app.use(async (c, next) => {
    if (!door.host(c.req.header("host"))) return refuse(c, 403, "this host is not served here");
    if (!door.origin(c.req.header("origin"))) return refuse(c, 403, "this origin is not let in");
    if (!rates.address.take(c.env.address)) return tooMany(c);
    return await next();
  });
  const tooMany = (c: Context<Env>): Response =>
    refuse(c, 429, "too many requests", { "retry-after": "10" });

  app.get("/healthz", (c) => c.json({ ok: true }));

  app.on(["GET", "POST", "DELETE"], "/mcp", async (c) => {
    const given = c.req.header("authorization");
    const token = BEARER.exec(given ?? "")?.[1];
    const challenge = (more: string): Response =>
      refuse(c, 401, "a token is needed", { "www-authenticate": `${CHALLENGE}${more}` });
    if (given === undefined) return challenge("");
    if (token === undefined) return challenge(', error="invalid_request"');
    let holder: ServeHolder;
    try {
      holder = await parts.admit(token);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "denied") throw error;
      // Whoever tries tokens is slowed down; a right one is never looked at here.
      if (!rates.wrong.take(c.env.address)) return tooMany(c);
      return challenge(', error="invalid_token"');
    }
    if (!rates.token.take(holder.holder)) return tooMany(c);
    const { raw } = c.req;
    if (raw.method !== "POST") return await parts.mcp(raw, undefined, { ...holder, token });
    const body = await readBody(raw, parts.bodyMs, parts.after);
    switch (body.kind) {
      case "tooLarge":
        return refuse(c, 413, "the body is longer than 4 MiB", { connection: "close" });
      case "tooSlow":
        return refuse(c, 408, "the body took too long", { connection: "close" });
      case "broken":
        return refuse(c, 400, "the body broke off");
      case "bytes": {
        const { method, url, headers, signal } = raw;
        const whole = new Request(url, { method, headers, signal, body: body.bytes });
        return await parts.mcp(whole, tryJson(body.bytes), { ...holder, token });
      }
    }
  });
  app.all(
    "/mcp",
    (c) => refuse(c, 405, "this method is not served", { allow: "GET, POST, DELETE" }),
  );
  app.notFound((c) => refuse(c, 404, "there is nothing here"));
  app.onError((error, c) => {
    parts.note(`a request failed: ${error.message}`);
    return refuse(c, 500, "the request failed");
  });
  return app;
}

/** Undefined for what is no JSON: whoever answers says so. */
function tryJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
