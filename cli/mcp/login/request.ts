/** The two requests of a login: the address that a person opens, and the code for a token. RFC 6749, 7636, 8707. @module */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import * as z from "zod";
import type { McpOAuth } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { OAuthClient } from "./client.ts";
import type { AuthServer } from "./metadata.ts";
import type { LoginNet } from "./net.ts";
import { noLogin } from "./url.ts";

/** One login under way. */
export interface Asking {
  readonly auth: AuthServer;
  readonly client: OAuthClient;
  readonly resource: string;
  /** Separated by spaces; absent: the server's choice. */
  readonly scope: string | undefined;
  readonly redirectUri: string;
  /** Says that an answer is to this very request. */
  readonly state: string;
  /** Says that who shows the code is who asked for it. */
  readonly verifier: string;
}

/** The address that the person opens. Throws Fault `refused`. */
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
    // Said twice, the page would choose which.
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

/** Shows the code, once, and takes the tokens. Throws Fault `refused`, `denied`, `upstream`. */
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
  const said = parsed.data;
  if (said.token_type.toLowerCase() !== "bearer") {
    throw noLogin("the token is of a kind that Remit does not know", "upstream");
  }
  const granted = said.scope ?? scope;
  return {
    tokenEndpoint: auth.token.href,
    clientId: id,
    ...(secret === undefined ? {} : { clientSecret: secret }),
    resource,
    ...(granted === undefined ? {} : { scope: granted }),
    accessToken: said.access_token,
    ...(said.expires_in === undefined ? {} : { expiresAt: now() + said.expires_in * 1_000 }),
    ...(said.refresh_token === undefined ? {} : { refreshToken: said.refresh_token }),
  };
}

function basic(id: string, secret: string): string {
  // Each is written as in a form first. RFC 6749, section 2.3.1.
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
