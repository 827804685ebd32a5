/**
 * The gateway's routes. A request passes, in this order: headers of ours, Host, Origin, rate of its address; then the
 * checks of its route. Nothing of ours is told in an error.
 * @module
 */
import { Hono } from "hono";
import { Fault } from "../contracts/fault.ts";
import { type Env, nothing, refuse, type Routes, tooMany } from "./answers.ts";
import type { Door } from "./host_origin_check.ts";
import type { Rates } from "./rate_limit.ts";

/** What the routes are made of. */
export interface AppParts {
  readonly door: Door;
  /** Of one address. */
  readonly rate: Rates;
  /** Each adds the routes of one surface. */
  readonly surfaces: readonly ((app: Routes) => void)[];
  note(text: string): void;
}

/** What stands on every answer whose route does not say otherwise. */
const HEADERS: readonly (readonly [string, string])[] = [
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cache-control", "no-store"],
];

/** Makes the routes. */
export function makeApp({ door, rate, surfaces, note }: AppParts): Routes {
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
  for (const add of surfaces) add(app);
  app.notFound(nothing);
  app.onError((error, c) => {
    // A flood is no fault of ours: the operator is not told of each request of it.
    if (error instanceof Fault && error.code === "rateLimited") return tooMany(c);
    note(`a request failed: ${error.message}`);
    return refuse(c, 500, "the request failed");
  });
  return app;
}
