/** An OAuth 2.1 login, from discovery to tokens. @module */
import type { McpOAuth } from "../../../../contracts/exchange/mod.ts";
import {
  type Asking,
  authorizeUrl,
  type GivenClient,
  provideClient,
  takeTokens,
} from "./request.ts";
import { discover, type Discovered } from "./discover.ts";
import { makeLoginNet, type NetLink, noLogin } from "./net.ts";
import { displayText } from "../../../../text/mod.ts";

/** The plan of a login, which a person must agree to before any party learns of the login. */
export interface LoginPlan extends Discovered {
  /** The scopes to ask for; undefined: the server's choice. */
  readonly scope: string | undefined;
}

/** The inputs of a login. */
export interface LoginParts {
  readonly link: NetLink;
  readonly powers: Pick<LoginPowers, "listen" | "random" | "after">;
  /** The MCP server's address. */
  readonly server: URL;
  readonly given: GivenClient;
  /** The person's choice among the server's authorization servers. */
  readonly issuer?: string;
  readonly scope?: string;
  /** The port of the loopback address; absent: a free one. */
  readonly port?: number;
  readonly now: () => number;
  /** Whether the person agrees. */
  agree(plan: LoginPlan): Promise<boolean>;
  /** Shows the address that the person opens. */
  show(url: string): void;
  /** The address at which a browser elsewhere ended, typed by the person; undefined: no more input. */
  readonly pasted?: (signal: AbortSignal) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** Milliseconds for the person to log in. */
const LOGIN_MS = 5 * 60_000;

/** Logs in. Throws `refused`, `denied`, `notFound`, `timedOut`, `cancelled`, `upstream`, and as the net service. */
export async function logIn(parts: LoginParts): Promise<McpOAuth> {
  const { link, powers, server, given, signal } = parts;
  const net = makeLoginNet(link, server);
  const found = await discover(net, server, parts.issuer);
  const scope = parts.scope ?? (found.scopes.length > 0 ? found.scopes.join(" ") : undefined);
  if (!await parts.agree({ ...found, scope })) throw noLogin("you did not agree", "denied");
  signal.throwIfAborted();
  const { auth, resource } = found;
  const state = powers.random();
  const waiting = Promise.withResolvers<Extract<Callback, { kind: "code" | "failed" }>>();
  let expected: CallbackExpected | undefined;
  const answer = (seen: CallbackSeen): LoginPage => {
    const judged: Callback = expected === undefined
      ? { kind: "nothing", status: 404, page: "Nothing is here.\n" }
      : judgeCallback(seen, expected);
    if (judged.kind === "nothing") return { status: judged.status, text: judged.page };
    // INVARIANT: only one answer counts (test: "… is answered once …").
    expected = undefined;
    waiting.resolve(judged);
    return { status: 200, text: judged.page };
  };
  const loopback = powers.listen(parts.port ?? 0, answer);
  const late = (): void =>
    waiting.reject(noLogin(`nobody logged in within ${LOGIN_MS / 60_000} minutes`, "timedOut"));
  const aborted = (): void => waiting.reject(signal.reason);
  waiting.promise.catch(() => undefined);
  signal.addEventListener("abort", aborted, { once: true });
  const over = new AbortController();
  let forget: (() => void) | undefined;
  try {
    const redirectUri = `http://127.0.0.1:${loopback.port}${CALLBACK_PATH}`;
    const client = await provideClient(net, auth, { given, redirectUri, scope });
    const verifier = powers.random();
    const asking: Asking = { auth, client, resource, scope, redirectUri, state, verifier };
    const url = authorizeUrl(asking);
    const { issuer, saysIssuer } = auth;
    expected = { port: loopback.port, state, issuer, saysIssuer };
    forget = powers.after(LOGIN_MS, late);
    parts.show(url);
    void paste(parts, over.signal, answer).catch(waiting.reject);
    const callback = await waiting.promise;
    if (callback.kind === "failed") {
      throw noLogin(callback.why, callback.denied ? "denied" : "refused");
    }
    signal.throwIfAborted();
    return await takeTokens(net, asking, { code: callback.code, now: parts.now });
  } finally {
    forget?.();
    over.abort();
    signal.removeEventListener("abort", aborted);
    await loopback.close();
  }
}

/** Judges a pasted address like a browser's request. */
async function paste(
  { pasted }: Pick<LoginParts, "pasted">,
  signal: AbortSignal,
  answer: (seen: CallbackSeen) => LoginPage,
): Promise<void> {
  while (!signal.aborted) {
    const text = (await pasted?.(signal))?.trim();
    if (text === undefined) return;
    if (!URL.canParse(text)) continue;
    const url = new URL(text);
    if (answer({ method: "GET", host: url.host, url }).status === 200) return;
  }
}

/** A browser's request to the loopback address. */
interface CallbackSeen {
  readonly method: string;
  /** The `host` header; null without one. */
  readonly host: string | null;
  readonly url: URL;
}

/** What the answer to this login must hold. RFC 6749, RFC 9207. */
interface CallbackExpected {
  readonly port: number;
  readonly state: string;
  readonly issuer: string;
  /** Whether each answer of this authorization server names its issuer. */
  readonly saysIssuer: boolean;
}

/** The verdict about a request. Only `code` and `failed` end the login. */
type Callback =
  | { readonly kind: "nothing"; readonly status: number; readonly page: string }
  | { readonly kind: "code"; readonly code: string; readonly page: string }
  | {
    readonly kind: "failed";
    readonly denied: boolean;
    readonly why: string;
    readonly page: string;
  };

/** The path to which the browser is redirected. */
const CALLBACK_PATH = "/callback";

const UNRELATED_PAGE = "Nothing here belongs to a login that is under way. Look at the terminal.\n";
const FAILED_PAGE = "Remit did not log in. The terminal says why. You can close this page.\n";
const DONE_PAGE = "Remit has the answer. You can close this page.\n";

/** Judges a request. The page never repeats its words. */
function judgeCallback(seen: CallbackSeen, expected: CallbackExpected): Callback {
  const { method, host, url } = seen;
  const nothing = (status: number): Callback => ({ kind: "nothing", status, page: UNRELATED_PAGE });
  // INVARIANT: a page under another name for this address reaches nothing (test: "… another name
  // …").
  if (host !== `127.0.0.1:${expected.port}`) return nothing(403);
  if (method !== "GET") return nothing(405);
  if (url.pathname !== CALLBACK_PATH) return nothing(404);
  const { searchParams: params } = url;
  const names = [...params.keys()];
  if (new Set(names).size !== names.length) return nothing(400);
  // A request without the right state cannot end the login either.
  if (params.get("state") !== expected.state) return nothing(400);
  const failed = (why: string, denied = false): Callback => ({
    ...{ kind: "failed", denied, why, page: FAILED_PAGE },
  });
  const issuer = params.get("iss");
  // Exact comparison (RFC 9207): a similar issuer may be another party.
  if (issuer === null ? expected.saysIssuer : issuer !== expected.issuer) {
    return failed("the answer is from another authorization server than was asked");
  }
  const error = params.get("error");
  if (error !== null) {
    const more = params.get("error_description");
    const words = [error, ...(more === null ? [] : [more])].map((each) =>
      displayText(each, { max: 200 })
    );
    const denied = error === "access_denied";
    return failed(`the authorization server says ${words.join(": ")}`, denied);
  }
  const code = params.get("code") ?? "";
  if (!/^[\x20-\x7e]{1,4096}$/.test(code)) return failed("the answer holds no code");
  return { kind: "code", code, page: DONE_PAGE };
}

/** A running net service process. */
export interface LoginService {
  readonly link: NetLink;
  /** Ends the process. */
  close(): Promise<void>;
}

/** A page of plain text for the browser. */
interface LoginPage {
  readonly status: number;
  readonly text: string;
}

/** The listener to which the browser is redirected. */
export interface Loopback {
  readonly port: number;
  /** Stops listening once running requests are answered. */
  close(): Promise<void>;
}

/** The powers of a login. */
export interface LoginPowers {
  /** Starts a net service, which has the network and no files. Throws `unavailable`. */
  start(): Promise<LoginService>;
  /** Listens on 127.0.0.1; port 0: a free one. Throws Fault `unavailable`. */
  listen(port: number, answer: (seen: CallbackSeen) => LoginPage): Loopback;
  /** 256 random bits, base64url. */
  random(): string;
  /** Runs `run` once after `ms` milliseconds; the returned function cancels that. */
  after(ms: number, run: () => void): () => void;
}
