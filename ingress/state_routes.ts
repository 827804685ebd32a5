/** How the service is: alive, ready, counted; and the public keys of what it signs. @module */
import { isLoopback } from "../contracts/loopback.ts";
import type { ServeHolder } from "../contracts/wire_serve.ts";
import { type Ask, nothing, type Routes } from "./answers.ts";
import { holderOf, tryBearer } from "./bearer.ts";
import type { Rates } from "./rate_limit.ts";

/** What the routes are made of. */
export interface StateParts {
  ready(): Promise<{ readonly ready: boolean; readonly why: string }>;
  /** Text in OpenMetrics' words; absent: not served. */
  readonly metrics?: () => Promise<string>;
  /** JSON text of a JWK set; absent: not served. */
  readonly jwks?: () => Promise<string>;
  admit(token: string): Promise<ServeHolder>;
  readonly wrong: Rates;
}

const TOKEN = 512;
const METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Adds them. */
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

/** Whether a program of this machine asks, and no proxy on behalf of somebody else. */
function fromHere(c: Ask): boolean {
  const host = c.req.header("host") ?? "";
  const forwarded = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];
  return isLoopback(hostnameOf(c.env.address)) && isLoopback(host.replace(/:\d+$/, "")) &&
    forwarded.every((name) => c.req.header(name) === undefined);
}

/** An address as `URL.hostname` writes it. */
function hostnameOf(address: string): string {
  const url = `http://${address.includes(":") ? `[${address}]` : address}`;
  return URL.canParse(url) ? new URL(url).hostname : "";
}

async function whyRefused(c: Ask, parts: StateParts): Promise<Response | undefined> {
  const token = tryBearer(c.req.header("authorization"), TOKEN);
  if (token === undefined) return nothing(c);
  const holder = await holderOf(c, { admit: () => parts.admit(token), wrong: parts.wrong });
  if (holder instanceof Response) return holder;
  if (holder === undefined) return nothing(c);
  return holder.profile === "anonymous" ? nothing(c) : undefined;
}
