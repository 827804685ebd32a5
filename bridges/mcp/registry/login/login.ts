/** A login from its first question to its tokens, in order. OAuth 2.1. @module */
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

/** What a person is shown before anybody else hears of the login. */
export interface LoginPlan extends Discovered {
  /** What will be asked for; absent: the server's choice. */
  readonly scope: string | undefined;
}

/** What a login is made of. */
export interface LoginParts {
  readonly link: NetLink;
  readonly powers: Pick<LoginPowers, "listen" | "random" | "after">;
  /** The MCP server's address. */
  readonly server: URL;
  readonly given: GivenClient;
  /** Chosen by the person, among those that the server names. */
  readonly issuer?: string;
  readonly scope?: string;
  /** Of the loopback address; a free one when absent. */
  readonly port?: number;
  readonly now: () => number;
  /** Whether the person agrees. */
  agree(plan: LoginPlan): Promise<boolean>;
  /** Shows the address that the person opens. */
  show(url: string): void;
  /** Where the browser ended, typed by the person, for one that cannot reach this machine; undefined: nothing more. */
  readonly pasted?: (signal: AbortSignal) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** Milliseconds for the person to log in. */
const LOGIN_MS = 5 * 60_000;

/** Logs in. Throws Fault `refused`, `denied`, `notFound`, `timedOut`, `cancelled`, `upstream`, and as the net service. */
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
    // INVARIANT: one answer and no other (test: "… is answered once …").
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
    const said = await waiting.promise;
    if (said.kind === "failed") throw noLogin(said.why, said.denied ? "denied" : "refused");
    signal.throwIfAborted();
    return await takeTokens(net, asking, { code: said.code, now: parts.now });
  } finally {
    forget?.();
    over.abort();
    signal.removeEventListener("abort", aborted);
    await loopback.close();
  }
}

/** What is typed is judged as what a browser brings. */
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

// The browser's request to the loopback address counts only if it answers what was asked. RFC
// 6749, RFC 9207.

interface CallbackSeen {
  readonly method: string;
  /** Of header `host`; null without one. */
  readonly host: string | null;
  readonly url: URL;
}

interface CallbackExpected {
  readonly port: number;
  readonly state: string;
  readonly issuer: string;
  /** Every answer of this authorization server says who it is. */
  readonly saysIssuer: boolean;
}

/** What is made of it. Only `code` and `failed` end the login. */
type Callback =
  | { readonly kind: "nothing"; readonly status: number; readonly page: string }
  | { readonly kind: "code"; readonly code: string; readonly page: string }
  | {
    readonly kind: "failed";
    readonly denied: boolean;
    readonly why: string;
    readonly page: string;
  };

/** The path of the address that a person's browser is sent back to. */
const CALLBACK_PATH = "/callback";

const AGAIN = "Nothing here belongs to a login that is under way. Look at the terminal.\n";
const ENDED = "Remit did not log in. The terminal says why. You can close this page.\n";
const DONE = "Remit has the answer. You can close this page.\n";

/** Judges one request. Its words are never repeated on the page. */
function judgeCallback(seen: CallbackSeen, expected: CallbackExpected): Callback {
  const { method, host, url } = seen;
  const nothing = (status: number): Callback => ({ kind: "nothing", status, page: AGAIN });
  // INVARIANT: a page that calls itself by another name for this address reaches nothing (test: "… another name …").
  if (host !== `127.0.0.1:${expected.port}`) return nothing(403);
  if (method !== "GET") return nothing(405);
  if (url.pathname !== CALLBACK_PATH) return nothing(404);
  const { searchParams: said } = url;
  const names = [...said.keys()];
  if (new Set(names).size !== names.length) return nothing(400);
  // Whoever does not know the state cannot end the login either.
  if (said.get("state") !== expected.state) return nothing(400);
  const failed = (why: string, denied = false): Callback => ({
    ...{ kind: "failed", denied, why, page: ENDED },
  });
  const issuer = said.get("iss");
  // Letter by letter, RFC 9207: what looks alike may be somebody else.
  if (issuer === null ? expected.saysIssuer : issuer !== expected.issuer) {
    return failed("the answer is from another authorization server than was asked");
  }
  const error = said.get("error");
  if (error !== null) {
    const more = said.get("error_description");
    const words = [error, ...(more === null ? [] : [more])].map((each) =>
      displayText(each, { max: 200 })
    );
    const denied = error === "access_denied";
    return failed(`the authorization server says ${words.join(": ")}`, denied);
  }
  const code = said.get("code") ?? "";
  if (!/^[\x20-\x7e]{1,4096}$/.test(code)) return failed("the answer holds no code");
  return { kind: "code", code, page: DONE };
}

/** A net service process that runs. */
export interface LoginService {
  readonly link: NetLink;
  /** Ends it. */
  close(): Promise<void>;
}

/** What a browser is answered: plain text. */
interface LoginPage {
  readonly status: number;
  readonly text: string;
}

/** Where a person's browser is sent back to. */
export interface Loopback {
  readonly port: number;
  /** Ends it when what is under way is answered. */
  close(): Promise<void>;
}

/** The browser, the loopback address and the clock of a login. */
export interface LoginPowers {
  /** Starts a net service: the network and no file. Throws Fault `unavailable`. */
  start(): Promise<LoginService>;
  /** Listens on 127.0.0.1; port 0: a free one. Throws Fault `unavailable`. */
  listen(port: number, answer: (seen: CallbackSeen) => LoginPage): Loopback;
  /** 256 random bits, base64url. */
  random(): string;
  /** Runs `run` once after `ms` milliseconds; the answer takes it back. */
  after(ms: number, run: () => void): () => void;
}
