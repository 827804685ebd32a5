/** An MCP server and its authorization server on loopback that follow the rules, except where a test changes them. @module */
import { createHash } from "node:crypto";
import { Fault } from "../../contracts/base/mod.ts";
import { clock } from "../../net/clock_powers.ts";
import { makeExchange } from "../../net/exchange_powers.ts";
import { resolvingNames } from "../../net/address/resolver.ts";
import { makeNetService } from "../../net/service.ts";
import type { LoginParts, LoginPowers } from "../../bridges/mcp/registry/login/login.ts";
import { makeLoginPowers } from "../../bridges/mcp/registry/login/login_powers.ts";
import type { NetLink } from "../../bridges/mcp/registry/login/net.ts";

type Fields = Record<string, unknown>;

/** A test's changes; everything else follows the rules. */
export interface Twist {
  /** Header `www-authenticate` of the MCP server's refusal. */
  readonly challenge?: (world: Origins) => string | undefined;
  /** For any request: an answer in place of the regular one. */
  readonly answer?: (path: string, request: Request) => Response | undefined;
  readonly resource?: (said: Fields, world: Origins) => unknown;
  readonly metadata?: (said: Fields, world: Origins) => unknown;
  readonly registered?: (said: Fields) => unknown;
  /** Redirect target after the person agreed. */
  readonly back?: (to: URL) => URL;
  readonly token?: (said: Fields) => unknown;
}

/** The origins of the two servers. */
export interface Origins {
  readonly server: string;
  readonly auth: string;
}

/** Both servers, running. */
export interface AuthWorld extends Origins, AsyncDisposable {
  /** Requests so far, `METHOD /path`. */
  readonly seen: readonly string[];
  /** Forms that came to the token endpoint, with header `authorization`. */
  readonly shown: readonly Readonly<Record<string, string>>[];
  /** The registrations. */
  readonly registered: readonly Fields[];
}

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json" },
  });

/** Starts both servers on ports of their own. */
export function startAuthWorld(twist: Twist = {}): AuthWorld {
  const seen: string[] = [];
  const shown: Record<string, string>[] = [];
  const registered: Fields[] = [];
  const codes = new Map<string, Readonly<Record<string, string>>>();
  const at = { hostname: "127.0.0.1", port: 0, onListen: () => undefined };
  const heard = (request: Request): URL => {
    const url = new URL(request.url);
    seen.push(`${request.method} ${url.pathname}`);
    return url;
  };
  const mcp = Deno.serve(at, (request) => {
    const { pathname } = heard(request);
    const twisted = twist.answer?.(pathname, request);
    if (twisted !== undefined) return twisted;
    if (pathname === "/mcp") {
      const challenge = twist.challenge === undefined
        ? `Bearer resource_metadata="${world.server}/.well-known/oauth-protected-resource/mcp"`
        : twist.challenge(world);
      return new Response(null, {
        status: 401,
        headers: challenge === undefined ? {} : { "www-authenticate": challenge },
      });
    }
    if (pathname === "/.well-known/oauth-protected-resource/mcp") {
      const said = {
        resource: `${world.server}/mcp`,
        authorization_servers: [world.auth],
        scopes_supported: ["tickets:read", "tickets:write"],
      };
      return json(twist.resource?.(said, world) ?? said);
    }
    return new Response(null, { status: 404 });
  });
  const auth = Deno.serve(at, async (request) => {
    const url = heard(request);
    const twisted = twist.answer?.(url.pathname, request);
    if (twisted !== undefined) return twisted;
    switch (url.pathname) {
      case "/.well-known/oauth-authorization-server": {
        const said = {
          issuer: world.auth,
          authorization_endpoint: `${world.auth}/authorize`,
          token_endpoint: `${world.auth}/token`,
          registration_endpoint: `${world.auth}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
          authorization_response_iss_parameter_supported: true,
        };
        return json(twist.metadata?.(said, world) ?? said);
      }
      case "/register": {
        const body: Fields = await request.json();
        registered.push(body);
        const said = { client_id: "client-1", redirect_uris: body["redirect_uris"] };
        return json(twist.registered?.(said) ?? said, 201);
      }
      case "/authorize": {
        const asked = Object.fromEntries(url.searchParams);
        codes.set("code-1", asked);
        const back = new URL(asked["redirect_uri"] ?? "");
        back.searchParams.set("code", "code-1");
        back.searchParams.set("state", asked["state"] ?? "");
        back.searchParams.set("iss", world.auth);
        return Response.redirect(twist.back?.(back) ?? back, 302);
      }
      case "/token": {
        const form = Object.fromEntries(new URLSearchParams(await request.text()));
        const basic = request.headers.get("authorization");
        shown.push({ ...form, ...(basic === null ? {} : { authorization: basic }) });
        const asked = codes.get(form["code"] ?? "");
        codes.delete(form["code"] ?? "");
        const proof = createHash("sha256").update(form["code_verifier"] ?? "").digest("base64url");
        const fits = asked !== undefined && asked["code_challenge"] === proof &&
          asked["redirect_uri"] === form["redirect_uri"] && asked["resource"] === form["resource"];
        if (!fits) return json({ error: "invalid_grant" }, 400);
        const said = {
          access_token: "access-1",
          token_type: "Bearer",
          expires_in: 3_600,
          refresh_token: "refresh-1",
          scope: asked["scope"],
        };
        return json(twist.token?.(said) ?? said);
      }
      default:
        return new Response(null, { status: 404 });
    }
  });
  const world: Origins = {
    server: `http://127.0.0.1:${mcp.addr.port}`,
    auth: `http://127.0.0.1:${auth.addr.port}`,
  };
  return {
    ...world,
    ...{ seen, shown, registered },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([mcp.shutdown(), auth.shutdown()]);
    },
  };
}

/** A net service within the test; it knows only the names in `names`. */
export function netLink(names: Readonly<Record<string, string>> = {}): NetLink {
  const net = makeNetService({
    resolver: resolvingNames({
      resolve: (host) =>
        names[host] === undefined
          ? Promise.reject(new Fault("notFound", `Cannot resolve "${host}"`))
          : Promise.resolve([names[host]]),
    }),
    exchange: makeExchange(),
    clock,
  });
  return { ask: async (op, body) => await net.ask(op, body), tell: net.tell };
}

/** The real powers, without a process. */
export const loginPowers: LoginPowers = makeLoginPowers(() =>
  Promise.reject(new Error("no process here"))
);

/** Follows an address as a person's browser does; gives the last page's text. */
export async function browse(url: string): Promise<string> {
  const answer = await fetch(url);
  return await answer.text();
}

/** A login in a world where the person agrees and logs in. */
export function loginAt(
  world: Pick<Origins, "server">,
  more: Partial<LoginParts> = {},
): LoginParts {
  return {
    link: netLink(),
    powers: loginPowers,
    server: new URL(`${world.server}/mcp`),
    given: {},
    now: () => 1_000,
    agree: () => Promise.resolve(true),
    show: (url) => void browse(url).catch(() => undefined),
    signal: new AbortController().signal,
    ...more,
  };
}
