/** `/hooks/NAME`: whoever knows a shared secret says that something happened. contracts/wire_a2a.ts. @module */
import { Fault } from "../contracts/fault.ts";
import type { HookAnswer, HookCall } from "../contracts/wire_a2a.ts";
import { nothing, refuse, type Routes, tooMany } from "./answers.ts";
import type { Rates } from "./rate_limit.ts";
import { type BodyBounds, wholeBody } from "./whole_body.ts";

/** What the route is made of. */
export interface HookParts {
  /** Of one path from one address. */
  readonly rates: Rates;
  hook(call: HookCall): Promise<HookAnswer>;
  readonly bounds: BodyBounds;
}

const PATH = /^\/hooks\/[A-Za-z0-9_-]{1,64}$/;
const MOST_HEADERS = 64;
const MOST_NAME = 128;
const MOST_VALUE = 8_192;
/** What is for others than the webhook: never passed on. */
const PRIVATE: ReadonlySet<string> = new Set(["cookie", "proxy-authorization"]);

/** Adds it. An unknown path and a wrong signature are answered alike. */
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
    name.length <= MOST_NAME && value.length <= MOST_VALUE && !PRIVATE.has(name)
  );
  return Object.fromEntries(kept.slice(0, MOST_HEADERS));
}
