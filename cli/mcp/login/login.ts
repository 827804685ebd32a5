/** A login from its first question to its tokens, in order. OAuth 2.1. @module */
import type { McpOAuth } from "../../../contracts/mod.ts";
import type { LoginHands, LoginPage } from "./hands.ts";
import {
  type Callback,
  CALLBACK_PATH,
  type CallbackExpected,
  type CallbackSeen,
  judgeCallback,
} from "./callback.ts";
import { type GivenClient, provideClient } from "./client.ts";
import { discover, type Discovered } from "./discover.ts";
import { makeLoginNet, type NetLink } from "./net.ts";
import { type Asking, authorizeUrl, takeTokens } from "./request.ts";
import { noLogin } from "./url.ts";

/** What a person is shown before anybody else hears of the login. */
export interface LoginPlan extends Discovered {
  /** What will be asked for; absent: the server's choice. */
  readonly scope: string | undefined;
}

/** What a login is made of. */
export interface LoginParts {
  readonly link: NetLink;
  readonly hands: Pick<LoginHands, "listen" | "random" | "after">;
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
  const { link, hands, server, given, signal } = parts;
  const net = makeLoginNet(link, server);
  const found = await discover(net, server, parts.issuer);
  const scope = parts.scope ?? (found.scopes.length > 0 ? found.scopes.join(" ") : undefined);
  if (!await parts.agree({ ...found, scope })) throw noLogin("you did not agree", "denied");
  signal.throwIfAborted();
  const { auth, resource } = found;
  const state = hands.random();
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
  const loopback = hands.listen(parts.port ?? 0, answer);
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
    const verifier = hands.random();
    const asking: Asking = { auth, client, resource, scope, redirectUri, state, verifier };
    const url = authorizeUrl(asking);
    const { issuer, saysIssuer } = auth;
    expected = { port: loopback.port, state, issuer, saysIssuer };
    forget = hands.after(LOGIN_MS, late);
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
