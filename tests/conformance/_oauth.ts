/** A login as `remit mcp login` does it, for the suite's authorization scenarios: the person agrees to everything. */
import { bearerChallenge } from "../../bridges/mcp/registry/login/discover.ts";
import { makeLoginPowers } from "../../bridges/mcp/registry/login/login_powers.ts";
import type { GivenClient } from "../../bridges/mcp/registry/login/request.ts";
import { logIn } from "../../bridges/mcp/registry/login/login.ts";
import type { McpHttpAnswer } from "../../contracts/wire/wire_mcp.ts";
import { clock } from "../../net/clock_powers.ts";
import { makeExchange } from "../../net/exchange_powers.ts";
import { resolvingNames } from "../../net/address/resolver.ts";
import { makeSystemResolver } from "../../net/address/resolver_powers.ts";
import { makeNetService } from "../../net/service.ts";

/** A description of the client at an address, for servers that take one: that of the suite. */
const DOCUMENT = "https://conformance-test.local/client-metadata.json";
/** Times that a person logs in once more because a tool needs more than was given. */
const STEPS = 1;

/** Logins at one server. */
export interface Logins {
  /** Of every request; changed by each login. */
  readonly headers: Readonly<Record<string, string>>;
  /** Hears each answer: a refusal of the token, or for want of scopes, is remembered. */
  hear(answer: McpHttpAnswer): void;
  /** Logs in once more where that was asked for since; tells whether it did. */
  stepUp(): Promise<boolean>;
}

/** Logs in for the first time. */
export async function makeLogins(url: string, given: GivenClient): Promise<Logins> {
  const headers: Record<string, string> = {};
  const net = makeNetService({
    resolver: resolvingNames(makeSystemResolver()),
    exchange: makeExchange(),
    clock,
  });
  let had = "";
  let wanted: string | undefined;
  let steps = 0;
  let lost = false;
  const login = async (client: GivenClient, scope?: string): Promise<void> => {
    const { accessToken, scope: granted = "" } = await logIn({
      link: { ask: async (op, body) => await net.ask(op, body), tell: net.tell },
      powers: makeLoginPowers(() => Promise.reject(new Error("no process in a test"))),
      server: new URL(url),
      given: client,
      ...(scope === undefined ? {} : { scope }),
      now: () => Date.now(),
      agree: () => Promise.resolve(true),
      show: (address) => void visit(address),
      signal: new AbortController().signal,
    });
    headers["authorization"] = `Bearer ${accessToken}`;
    had = scope ?? granted;
  };
  /** A person without an app of theirs names the description, where that is taken. */
  const either = async (scope?: string): Promise<void> => {
    if (given.id !== undefined) return await login(given, scope);
    try {
      await login({ document: DOCUMENT }, scope);
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("named by an address"))) throw error;
      await login({}, scope);
    }
  };
  await either();
  return {
    headers,
    hear({ status, headers: said }): void {
      if (status === 401) lost = true;
      if (status === 403) wanted = bearerChallenge(said["www-authenticate"]).scope;
    },
    async stepUp(): Promise<boolean> {
      if (!lost && wanted === undefined || steps >= STEPS) return false;
      steps++;
      const words = [...had.split(" "), ...(wanted ?? "").split(" ")];
      const all = [...new Set(words)].filter((each) => each !== "");
      await either(lost || all.length === 0 ? undefined : all.join(" "));
      lost = false;
      return true;
    },
  };
}

/** What a browser does. */
async function visit(address: string): Promise<void> {
  const answer = await fetch(address);
  await answer.body?.cancel();
}
