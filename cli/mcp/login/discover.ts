/** Who gives tokens for an MCP server: asked of the server, then of whom it names. RFC 9728, RFC 8414, OpenID discovery. @module */
import { Fault } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { bearerChallenge } from "./challenge.ts";
import {
  type AuthServer,
  isScope,
  parseAuthServer,
  parseResource,
  type ResourceWords,
} from "./metadata.ts";
import type { LoginAnswer, LoginNet } from "./net.ts";
import { loginUrl, noLogin, sameIssuer } from "./url.ts";

/** What a login needs to know. */
export interface Discovered {
  readonly auth: AuthServer;
  readonly resource: string;
  /** What the server wants, else all that it has; empty: it names none. */
  readonly scopes: readonly string[];
  /** Other authorization servers that it names. */
  readonly others: readonly string[];
}

const SCOPES = 64;

/** Finds out. `issuer` is the one that the person chose. Throws Fault `refused`, `notFound`, `upstream`. */
export async function discover(
  net: LoginNet,
  server: URL,
  issuer?: string,
): Promise<Discovered> {
  const { status, challenge } = await net.knock(server);
  const said = bearerChallenge(status === 401 || status === 403 ? challenge : undefined);
  const words = await resourceWords(net, server, said.resourceMetadata);
  const issuers = words?.issuers ?? [];
  // Before there were such descriptions, a server gave its tokens itself.
  const known = issuers.length > 0 ? issuers : [server.origin];
  const chosen = issuer === undefined
    ? known[0]
    : known.find((each) => URL.canParse(each) && sameIssuer(each, issuer));
  if (chosen === undefined) {
    throw noLogin(
      `the server does not name that authorization server; it names ${
        known.map((each) => displayText(each, { max: 200 })).join(", ")
      }`,
      "notFound",
    );
  }
  const auth = await authServer(net, server, chosen);
  const wanted = (said.scope ?? "").split(" ").filter(isScope);
  return Object.freeze({
    auth,
    resource: words?.resource ?? own(server),
    scopes: (wanted.length > 0 ? wanted : words?.scopes ?? []).slice(0, SCOPES),
    others: known.filter((each) => each !== chosen),
  });
}

async function resourceWords(
  net: LoginNet,
  server: URL,
  named: string | undefined,
): Promise<ResourceWords | undefined> {
  const { origin, pathname } = server;
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const places = named === undefined || named === ""
    ? [...pathname === "/" ? [] : [new URL(`${root}${pathname}`)], new URL(root)]
    : [loginUrl(named, "where the server describes itself", server)];
  for (const place of places) {
    // INVARIANT: its own words come from itself (test: "… described elsewhere …").
    if (place.origin !== origin) throw noLogin("the server has itself described by another one");
    const answer = await net.get(place);
    if (isThere(answer)) return parseResource(answer.json, server);
  }
  if (named === undefined) return undefined;
  throw noLogin("the server does not describe itself where it says", "upstream");
}

async function authServer(net: LoginNet, server: URL, issuer: string): Promise<AuthServer> {
  const at = loginUrl(issuer, "its authorization server", server);
  if (at.search !== "") throw noLogin("the name of its authorization server holds a question mark");
  const path = at.pathname.replace(/\/$/, "");
  const places = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    ...(path === "" ? [] : [`${path}/.well-known/openid-configuration`]),
  ];
  for (const place of places) {
    const answer = await net.get(new URL(`${at.origin}${place}`));
    if (isThere(answer)) return parseAuthServer(answer.json, issuer, server);
  }
  throw noLogin(`${at.origin} does not say how to log in`, "notFound");
}

/** A page for people in place of a document is none. */
function isThere({ status, json }: LoginAnswer): boolean {
  if (status >= 500) throw new Fault("upstream", `Cannot log in: the server answers ${status}`);
  return status === 200 && typeof json === "object" && json !== null;
}

/** What a server is called that does not say so. */
function own({ origin, pathname, search }: URL): string {
  return pathname === "/" && search === "" ? origin : `${origin}${pathname}${search}`;
}
