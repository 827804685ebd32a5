/** As whom Remit asks for a token: an id that was given, a description at an address, or one registered now. RFC 7591. @module */
import * as z from "zod";
import type { AuthServer } from "./metadata.ts";
import type { LoginNet } from "./net.ts";
import { noLogin } from "./url.ts";

/** A client of an authorization server. */
export interface OAuthClient {
  readonly id: string;
  readonly secret?: string;
  /** How it shows at the token endpoint who it is. */
  readonly method: "none" | "client_secret_basic" | "client_secret_post";
}

/** What the person gave. */
export interface GivenClient {
  readonly id?: string;
  readonly secret?: string;
  /** https address of a client metadata document, which is the client's id then. */
  readonly document?: string;
}

const visible = z.string().max(4_096).regex(/^[\x21-\x7e]+$/);
const Registered = z.object({
  client_id: visible,
  client_secret: visible.optional(),
  redirect_uris: z.array(z.string().max(2_048)).max(16).optional(),
  token_endpoint_auth_method: z.string().max(64).optional(),
});
const Failed = z.object({ error: z.string().max(256).regex(/^[\x21-\x7e]+$/) });

/** Finds or registers the client. Throws Fault `refused`, `notFound`, `upstream`. */
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
    const failed = Failed.safeParse(json);
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
