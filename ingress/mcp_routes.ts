/** `/mcp`: hosts of the Model Context Protocol, each request with its token. @module */
import type { ServeHolder } from "../contracts/wire_serve.ts";
import { refuse, type Routes, tooMany } from "./answers.ts";
import { holderOf, tryBearer } from "./bearer.ts";
import type { Rates } from "./rate_limit.ts";
import { type BodyBounds, wholeBody } from "./whole_body.ts";

/** What the route is made of. */
export interface McpParts {
  readonly rates: { readonly token: Rates; readonly wrong: Rates };
  /** Whose a token is. Rejects with `denied`. */
  admit(token: string): Promise<ServeHolder>;
  mcp(
    request: Request,
    body: unknown,
    caller: { readonly holder: string; readonly token: string },
  ): Promise<Response>;
  readonly bounds: BodyBounds;
}

const CHALLENGE = 'Bearer realm="remit"';
const TOKEN = 512;

/** Adds it. */
export function serveMcp(app: Routes, { rates, admit, mcp, bounds }: McpParts): void {
  app.on(["GET", "POST", "DELETE"], "/mcp", async (c) => {
    const given = c.req.header("authorization");
    const token = tryBearer(given, TOKEN);
    const challenge = (more: string): Response =>
      refuse(c, 401, "a token is needed", { "www-authenticate": `${CHALLENGE}${more}` });
    if (given === undefined) return challenge("");
    if (token === undefined) return challenge(', error="invalid_request"');
    const holder = await holderOf(c, { admit: () => admit(token), wrong: rates.wrong });
    if (holder === undefined) return challenge(', error="invalid_token"');
    if (holder instanceof Response) return holder;
    if (!rates.token.take(holder.holder)) return tooMany(c);
    const { raw } = c.req;
    if (raw.method !== "POST") return await mcp(raw, undefined, { ...holder, token });
    const bytes = await wholeBody(c, bounds);
    if (bytes instanceof Response) return bytes;
    // Whoever is known may wait long for an answer: for that its body needs no room.
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

/** Undefined for what is no JSON: whoever answers says so. */
function tryJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
