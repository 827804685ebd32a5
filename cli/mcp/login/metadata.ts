/** What a server and its authorization server say of themselves: untrusted, parsed with bounds. RFC 9728, RFC 8414. @module */
import * as z from "zod";
import { loginUrl, noLogin, sameIssuer } from "./url.ts";

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

/** What an MCP server says of who gives tokens for it. */
export interface ResourceWords {
  /** What tokens are for, RFC 8707: on the server's own origin, at or above its path. */
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
  /** How a client with a secret may show it; `none` for one without. */
  readonly methods: readonly string[];
  /** It says with each answer who it is. RFC 9207. */
  readonly saysIssuer: boolean;
  /** A client may be named by the address of its description. */
  readonly takesDocuments: boolean;
}

/** Parses a protected resource's metadata for the server at `url`. Throws Fault `refused`, `upstream`. */
export function parseResource(json: unknown, url: URL): ResourceWords {
  const parsed = Resource.safeParse(json);
  if (!parsed.success) throw noLogin("what the server says of itself does not read", "upstream");
  const { resource, authorization_servers, scopes_supported, bearer_methods_supported } =
    parsed.data;
  const at = loginUrl(resource, "the server's own name", url);
  // INVARIANT: a token for another server is never asked for (test: "… of another server …").
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

/** Parses the metadata of the authorization server `issuer`. Throws Fault `refused`, `upstream`. */
export function parseAuthServer(json: unknown, issuer: string, server: URL): AuthServer {
  const parsed = Server.safeParse(json);
  if (!parsed.success) {
    throw noLogin("what the authorization server says of itself does not read", "upstream");
  }
  const said = parsed.data;
  // INVARIANT: whose words these are is whom we asked (test: "… in another's name …").
  if (!sameIssuer(said.issuer, issuer)) {
    throw noLogin("the authorization server says that it is another one");
  }
  if (said.code_challenge_methods_supported?.includes("S256") !== true) {
    throw noLogin("the authorization server does not say that it protects codes (PKCE, S256)");
  }
  if (said.response_types_supported?.includes("code") === false) {
    throw noLogin("the authorization server gives no codes");
  }
  if (said.grant_types_supported?.includes("authorization_code") === false) {
    throw noLogin("the authorization server takes no codes");
  }
  const at = (url: string, what: string): URL => loginUrl(url, what, server);
  const { registration_endpoint: register } = said;
  return Object.freeze({
    issuer: said.issuer,
    authorize: at(said.authorization_endpoint, "its page to log in at"),
    token: at(said.token_endpoint, "its token endpoint"),
    ...(register === undefined ? {} : { register: at(register, "its place to register") }),
    // What the standard says where it says nothing.
    methods: said.token_endpoint_auth_methods_supported ?? ["client_secret_basic"],
    saysIssuer: said.authorization_response_iss_parameter_supported === true,
    takesDocuments: said.client_id_metadata_document_supported === true,
  });
}

/** A scope as RFC 6749 has it. */
export function isScope(scope: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(scope);
}

function isAtOrAbove(path: string, other: string): boolean {
  const folder = path.endsWith("/") ? path : `${path}/`;
  return path === other || other.startsWith(folder);
}
