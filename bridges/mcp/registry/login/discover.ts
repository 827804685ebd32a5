/** Discovers a server's authorization server and its endpoints. RFC 9728, RFC 8414, OpenID discovery. @module */
import { Fault, present } from "../../../../contracts/base/mod.ts";
import { displayText } from "../../../../text/mod.ts";
import { type LoginAnswer, type LoginNet, loginUrl, noLogin, sameIssuer } from "./net.ts";
import * as z from "zod";

/** The endpoints and scopes for a login. */
export interface Discovered {
  readonly auth: AuthServer;
  readonly resource: string;
  /** The scopes that the server asks for, else all that it supports; empty: it names none. */
  readonly scopes: readonly string[];
  /** The server's other authorization servers. */
  readonly others: readonly string[];
}

const MAX_SCOPES = 64;

/** Discovers how to log in; `issuer` is the person's choice. Throws `refused`, `notFound`, `upstream`. */
export async function discover(net: LoginNet, server: URL, issuer?: string): Promise<Discovered> {
  const { status, challenge } = await net.askServer(server);
  const demanded = bearerChallenge(status === 401 || status === 403 ? challenge : undefined);
  const words = await resourceWords(net, server, demanded.resourceMetadata);
  const issuers = words?.issuers ?? [];
  // Without metadata, as in older revisions, the server issues its own tokens.
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
  const wanted = (demanded.scope ?? "").split(" ").filter(isScope);
  return Object.freeze({
    auth,
    resource: words?.resource ?? defaultResource(server),
    scopes: (wanted.length > 0 ? wanted : words?.scopes ?? []).slice(0, MAX_SCOPES),
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
    // INVARIANT: a server's metadata comes from its own origin (test: "… described elsewhere …").
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

/** Whether an answer is a JSON document, not a web page. Throws `upstream` for a server error. */
function isThere({ status, json }: LoginAnswer): boolean {
  if (status >= 500) throw new Fault("upstream", `Cannot log in: the server answers ${status}`);
  return status === 200 && typeof json === "object" && json !== null;
}

/** The resource identifier of a server that names none. */
function defaultResource({ origin, pathname, search }: URL): string {
  return pathname === "/" && search === "" ? origin : `${origin}${pathname}${search}`;
}

/** A `www-authenticate` challenge: RFC 9110, section 11.6.1; RFC 9728, section 5.1. */
interface Challenge {
  /** Address of the server's metadata: untrusted. */
  readonly resourceMetadata?: string;
  /** Requested scopes: untrusted. */
  readonly scope?: string;
}

const MAX_HEADER_CHARS = 8_192;
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

interface Scanner {
  readonly text: string;
  at: number;
}

/** The first Bearer challenge; empty for a header without one or one that does not parse. */
export function bearerChallenge(header: string | undefined): Challenge {
  if (header === undefined || header.length > MAX_HEADER_CHARS) return {};
  const params = bearerParams({ text: header, at: 0 });
  return present<Challenge>({
    resourceMetadata: params.get("resource_metadata"),
    scope: params.get("scope"),
  });
}

function bearerParams(scan: Scanner): ReadonlyMap<string, string> {
  let scheme = "";
  let found: Map<string, string> | undefined;
  for (;;) {
    skip(scan, " \t,");
    const word = token(scan);
    if (word === "") return found ?? new Map();
    skip(scan, " \t");
    if (scan.text[scan.at] !== "=") {
      // A word without a value begins the next challenge.
      if (found !== undefined) return found;
      scheme = word.toLowerCase();
      if (scheme === "bearer") found = new Map();
      continue;
    }
    scan.at++;
    skip(scan, " \t");
    const value = scan.text[scan.at] === '"' ? quoted(scan) : token(scan);
    if (value === undefined) return new Map();
    const name = word.toLowerCase();
    // A parameter given twice is void.
    if (found !== undefined) found.set(name, found.has(name) ? "" : value);
  }
}

function skip(scan: Scanner, chars: string): void {
  while (scan.at < scan.text.length && chars.includes(scan.text[scan.at] ?? "")) scan.at++;
}

function token(scan: Scanner): string {
  const from = scan.at;
  while (TOKEN.test(scan.text[scan.at] ?? "")) scan.at++;
  // Stops before the padding of a token68, which no parameter has.
  return scan.text.slice(from, scan.at);
}

function quoted(scan: Scanner): string | undefined {
  let value = "";
  for (scan.at++; scan.at < scan.text.length; scan.at++) {
    const char = scan.text[scan.at] ?? "";
    if (char === '"') {
      scan.at++;
      return value;
    }
    if (char === "\\") scan.at++;
    value += scan.text[scan.at] ?? "";
  }
  return undefined;
}

// TRUST: the metadata below comes from strangers; every text and list has a bound. RFC 9728, RFC
// 8414.
const text = z.string().max(2_048);
const words = z.array(z.string().max(256)).max(512);

const Resource = z.object({
  resource: text,
  authorization_servers: z.array(text).max(16).optional(),
  scopes_supported: words.optional(),
  bearer_methods_supported: words.optional(),
});

const Server = z.object({
  issuer: text,
  authorization_endpoint: text,
  token_endpoint: text,
  registration_endpoint: text.optional(),
  response_types_supported: words.optional(),
  grant_types_supported: words.optional(),
  code_challenge_methods_supported: words.optional(),
  token_endpoint_auth_methods_supported: words.optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
});

/** An MCP server's metadata as a protected resource. */
interface ResourceWords {
  /** The resource of its tokens (RFC 8707): on the server's own origin, at or above its path. */
  readonly resource: string;
  readonly issuers: readonly string[];
  readonly scopes: readonly string[];
}

/** An authorization server. */
export interface AuthServer {
  readonly issuer: string;
  readonly authorize: URL;
  readonly token: URL;
  readonly register?: URL;
  /** Authentication methods at the token endpoint. */
  readonly methods: readonly string[];
  /** Whether each of its answers names the issuer (RFC 9207). */
  readonly saysIssuer: boolean;
  /** Whether a client may be identified by a metadata document. */
  readonly takesDocuments: boolean;
}

/** Parses the metadata of the protected resource at `url`. Throws `refused`, `upstream`. */
function parseResource(json: unknown, url: URL): ResourceWords {
  const parsed = Resource.safeParse(json);
  if (!parsed.success) throw noLogin("what the server says of itself does not read", "upstream");
  const { resource, authorization_servers, scopes_supported, bearer_methods_supported } =
    parsed.data;
  const at = loginUrl(resource, "the server's own name", url);
  // INVARIANT: no token for another server is requested (test: "… of another server …").
  if (at.origin !== url.origin || !isAtOrAbove(at.pathname, url.pathname) || at.search !== "") {
    throw noLogin("the server names another server as the one that tokens are for");
  }
  if (bearer_methods_supported?.includes("header") === false) {
    throw noLogin("the server takes its tokens in another way than by a header");
  }
  return {
    resource,
    issuers: authorization_servers ?? [],
    scopes: (scopes_supported ?? []).filter(isScope),
  };
}

/** Parses the metadata of the authorization server `issuer`. Throws `refused`, `upstream`. */
function parseAuthServer(json: unknown, issuer: string, server: URL): AuthServer {
  const parsed = Server.safeParse(json);
  if (!parsed.success) {
    throw noLogin("what the authorization server says of itself does not read", "upstream");
  }
  const metadata = parsed.data;
  // INVARIANT: the metadata is that of the issuer that was asked (test: "… in another's name …").
  if (!sameIssuer(metadata.issuer, issuer)) {
    throw noLogin("the authorization server says that it is another one");
  }
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true) {
    throw noLogin("the authorization server does not say that it protects codes (PKCE, S256)");
  }
  if (metadata.response_types_supported?.includes("code") === false) {
    throw noLogin("the authorization server gives no codes");
  }
  if (metadata.grant_types_supported?.includes("authorization_code") === false) {
    throw noLogin("the authorization server takes no codes");
  }
  const at = (url: string, what: string): URL => loginUrl(url, what, server);
  const { registration_endpoint: register } = metadata;
  return Object.freeze({
    issuer: metadata.issuer,
    authorize: at(metadata.authorization_endpoint, "its page to log in at"),
    token: at(metadata.token_endpoint, "its token endpoint"),
    ...(register === undefined ? {} : { register: at(register, "its place to register") }),
    // The default by RFC 8414.
    methods: metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"],
    saysIssuer: metadata.authorization_response_iss_parameter_supported === true,
    takesDocuments: metadata.client_id_metadata_document_supported === true,
  });
}

/** Whether a text is a scope by RFC 6749. */
export function isScope(scope: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(scope);
}

function isAtOrAbove(path: string, other: string): boolean {
  const folder = path.endsWith("/") ? path : `${path}/`;
  return path === other || other.startsWith(folder);
}
