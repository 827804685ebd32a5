/**
 * The requests of a login: registering a client, the page to open, the tokens. RFC 6749, 7591,
 * 7636, 8707. Used by login.ts.
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { present } from "../../../../contracts/base/mod.ts";
import type { McpOAuth } from "../../../../contracts/exchange/mod.ts";
import { displayText } from "../../../../text/mod.ts";
import type { AuthServer } from "./discover.ts";
import { type LoginNet, noLogin } from "./net.ts";
import * as z from "zod";

/** A login in progress. */
export interface Asking {
  readonly auth: AuthServer;
  readonly client: OAuthClient;
  readonly resource: string;
  /** Separated by spaces; absent: the server's choice. */
  readonly scope: string | undefined;
  readonly redirectUri: string;
  /** Proves that an answer belongs to this login. */
  readonly state: string;
  /** Proves that the party that redeems the code requested it (PKCE). */
  readonly verifier: string;
}

/** The address that the person opens. Throws `refused`. */
export function authorizeUrl(asking: Asking): string {
  const { auth, client, resource, scope, redirectUri, state, verifier } = asking;
  const url = new URL(auth.authorize);
  const ours: Readonly<Record<string, string>> = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource,
    ...(scope === undefined ? {} : { scope }),
  };
  for (const [name, value] of Object.entries(ours)) {
    // With a parameter given twice, the page would choose one.
    if (url.searchParams.has(name)) {
      throw noLogin(`its page to log in at already says "${name}"`);
    }
    url.searchParams.set(name, value);
  }
  return url.href;
}

const token = z.string().min(1).max(8_192).regex(/^[\x21-\x7e]+$/);
const Tokens = z.object({
  access_token: token,
  token_type: z.string().max(64),
  expires_in: z.number().min(0).max(1e9).optional(),
  refresh_token: token.optional(),
  scope: z.string().max(4_096).optional(),
});
const Failed = z.object({
  error: z.string().max(256),
  error_description: z.string().max(2_048).optional(),
});

/** Exchanges the code for tokens. Throws `refused`, `denied`, `upstream`. */
export async function takeTokens(
  net: LoginNet,
  { auth, client, resource, scope, redirectUri, verifier }: Asking,
  { code, now }: { readonly code: string; readonly now: () => number },
): Promise<McpOAuth> {
  const { id, secret, method } = client;
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    ...{ code, redirect_uri: redirectUri, code_verifier: verifier, resource },
    ...(method === "client_secret_basic" ? {} : { client_id: id }),
    ...(method === "client_secret_post" && secret !== undefined ? { client_secret: secret } : {}),
  });
  const { status, json } = await net.post(auth.token, form.toString(), {
    "content-type": "application/x-www-form-urlencoded",
    ...(method === "client_secret_basic" && secret !== undefined
      ? { authorization: basic(id, secret) }
      : {}),
  });
  if (status !== 200) throw failed(status, json);
  const parsed = Tokens.safeParse(json);
  if (!parsed.success) throw noLogin("the answer with the token does not read", "upstream");
  const tokens = parsed.data;
  if (tokens.token_type.toLowerCase() !== "bearer") {
    throw noLogin("the token is of a kind that Remit does not know", "upstream");
  }
  const { expires_in: seconds } = tokens;
  return present<McpOAuth>({
    ...{ tokenEndpoint: auth.token.href, clientId: id, clientSecret: secret, resource },
    scope: tokens.scope ?? scope,
    accessToken: tokens.access_token,
    expiresAt: seconds === undefined ? undefined : now() + seconds * 1_000,
    refreshToken: tokens.refresh_token,
  });
}

function basic(id: string, secret: string): string {
  // Both are form-encoded first: RFC 6749, section 2.3.1.
  const both = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  return `Basic ${Buffer.from(both).toString("base64")}`;
}

function failed(status: number, json: unknown): Error {
  const parsed = Failed.safeParse(json);
  if (!parsed.success) return noLogin(`the token endpoint answers ${status}`, "upstream");
  const { error, error_description } = parsed.data;
  const more = error_description === undefined
    ? ""
    : `: ${displayText(error_description, { max: 300 })}`;
  return noLogin(
    `the token endpoint refuses the code: ${displayText(error, { max: 100 })}${more}`,
    "upstream",
  );
}

/** Remit as an OAuth client. */
interface OAuthClient {
  readonly id: string;
  readonly secret?: string;
  /** How it authenticates at the token endpoint. */
  readonly method: "none" | "client_secret_basic" | "client_secret_post";
}

/** A client that the person named by flags. */
export interface GivenClient {
  readonly id?: string;
  readonly secret?: string;
  /** The https address of a client metadata document; it serves as the client's id. */
  readonly document?: string;
}

const visible = z.string().max(4_096).regex(/^[\x21-\x7e]+$/);
const Registered = z.object({
  client_id: visible,
  client_secret: visible.optional(),
  redirect_uris: z.array(z.string().max(2_048)).max(16).optional(),
  token_endpoint_auth_method: z.string().max(64).optional(),
});
const Unregistered = z.object({ error: z.string().max(256).regex(/^[\x21-\x7e]+$/) });

/** The given client, the client of a metadata document, or one that is registered now. Throws `refused`, `notFound`, `upstream`. */
export async function provideClient(
  net: LoginNet,
  auth: AuthServer,
  { given, redirectUri, scope }: {
    readonly given: GivenClient;
    readonly redirectUri: string;
    readonly scope: string | undefined;
  },
): Promise<OAuthClient> {
  const { id, secret, document } = given;
  if (id !== undefined) {
    return { id, ...(secret === undefined ? {} : { secret }), method: methodOf(auth, secret) };
  }
  if (document !== undefined) {
    if (auth.takesDocuments) return { id: document, method: "none" };
    throw noLogin("the authorization server takes no client that is named by an address");
  }
  if (auth.register === undefined) {
    throw noLogin(
      "the authorization server registers nobody by itself; register Remit there as a native app with the redirect http://127.0.0.1/callback, and give its id with --client-id",
      "notFound",
    );
  }
  return await register(net, auth, auth.register, { redirectUri, scope });
}

function methodOf(auth: AuthServer, secret: string | undefined): OAuthClient["method"] {
  if (secret === undefined) return "none";
  const basic = auth.methods.includes("client_secret_basic");
  return basic || !auth.methods.includes("client_secret_post")
    ? "client_secret_basic"
    : "client_secret_post";
}

async function register(
  net: LoginNet,
  auth: AuthServer,
  at: URL,
  { redirectUri, scope }: { readonly redirectUri: string; readonly scope: string | undefined },
): Promise<OAuthClient> {
  const method = ["none", "client_secret_basic", "client_secret_post"]
    .find((each) => auth.methods.includes(each)) ?? "none";
  const { status, json } = await net.post(
    at,
    JSON.stringify({
      client_name: "Remit",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: method,
      application_type: "native",
      ...(scope === undefined ? {} : { scope }),
    }),
    { "content-type": "application/json" },
  );
  if (status !== 200 && status !== 201) {
    const failed = Unregistered.safeParse(json);
    throw noLogin(
      `the authorization server did not register Remit: ${
        failed.success ? failed.data.error : `it answers ${status}`
      }`,
      "upstream",
    );
  }
  const parsed = Registered.safeParse(json);
  if (!parsed.success) throw noLogin("its answer to the registration does not read", "upstream");
  const { client_id: id, client_secret: secret, redirect_uris: uris } = parsed.data;
  if (uris?.includes(redirectUri) === false) {
    throw noLogin("the authorization server registered another place to send the code to");
  }
  return { id, ...(secret === undefined ? {} : { secret }), method: methodOf(auth, secret) };
}
