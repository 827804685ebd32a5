/**
 * Secrets lent to imported servers: held in memory, and given only to the server's environment and
 * to headers of requests to the server. Access tokens are renewed before they expire, and once
 * after a server refuses one. OAuth 2.1: RFC 6749 section 6, RFC 8707.
 */
import * as z from "zod";
import { Buffer } from "node:buffer";
import { Fault } from "../../../contracts/base/fault.ts";
import { toJson } from "../../../contracts/base/json.ts";
import { isLoopback } from "../../../contracts/base/loopback.ts";
import type { Leases } from "../../../contracts/authority/gate.ts";
import type { ImportedServer, McpLook } from "../../../contracts/exchange/mcp.ts";
import type { McpLoan, McpLogEntry, McpOAuth } from "../../../contracts/exchange/mcp_loan.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { Store } from "../../../contracts/task/store.ts";
import type { Secret } from "../../../contracts/wire/wire_control.ts";
import type { NetAnswer, NetRequest } from "../../../contracts/wire/wire_net.ts";
import { beneath } from "../../core/lease/scope.ts";
import type { ReadPrivate } from "../../core/log/read_events.ts";
import type { McpServers } from "./servers.ts";
import { type NetService, parseNetAnswer } from "../net/net_service.ts";
import { readMcpLog } from "./log.ts";

/** Milliseconds before a token's end at which it is renewed, and milliseconds for one renewal. */
const EARLY_MS = 60_000;
const RENEW_MS = 30_000;
const MAX_BYTES = 65_536;

/** Headers to add, and the secrets in them, which are removed from answers. */
export interface SecretHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly Pick<Secret, "value" | "prefix">[];
  /** The headers contain a renewable token. */
  readonly renewable: boolean;
}

/** The secrets lent to servers. */
export interface McpTokens {
  lend(loan: McpLoan): void;
  /** The values for the server's environment, only under reviewed names. */
  env(server: Pick<ImportedServer, "name" | "secretEnv">): Readonly<Record<string, string>>;
  /** The headers for requests to the server; an expiring token is renewed first. */
  headers(server: ImportedServer): Promise<SecretHeaders>;
  /** Renews the token that a server refused. False where none can be renewed, or renewal fails. */
  renew(server: ImportedServer, refused: SecretHeaders): Promise<boolean>;
  /** The renewed login to keep in place of the lent one; undefined where nothing changed. */
  changed(server: string): McpOAuth | undefined;
  /** Drops the secrets of a revoked server. */
  forget(server: string): void;
}

interface Lent {
  readonly loan: McpLoan;
  oauth: McpOAuth | undefined;
  renewing: Promise<boolean> | undefined;
}

/** Visible ASCII characters, as allowed in a header's value. */
const Token = z.string().min(1).max(8_192).regex(/^[\x21-\x7e]+$/);
const Renewed = z.object({
  access_token: Token,
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().min(0).max(1e9).optional(),
  refresh_token: Token.optional(),
  scope: z.string().max(4_096).optional(),
});

/** Makes the table, without any loan yet. */
export function makeMcpTokens(
  { net, powers }: {
    readonly net: Pick<NetService, "provide">;
    readonly powers: Pick<Powers, "now" | "token">;
  },
): McpTokens {
  const lent = new Map<string, Lent>();

  const ask = async (at: string, headers: Record<string, string>, request: {
    readonly body: string;
    readonly named: boolean;
  }): Promise<NetAnswer> => {
    const child = await net.provide();
    const sent: NetRequest = {
      ...{ id: `o${powers.token()}`, method: "POST", url: at, body: request.body },
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        ...headers,
      },
      allow: [{ origin: new URL(at).origin, named: request.named }],
      ...{ redirects: 0, requestBytes: MAX_BYTES, responseBytes: MAX_BYTES, deadlineMs: RENEW_MS },
    };
    return parseNetAnswer(await child.port.ask("fetch", toJson(sent)));
  };

  const renewed = async (
    server: ImportedServer,
    oauth: McpOAuth,
  ): Promise<McpOAuth | undefined> => {
    const { tokenEndpoint, clientId, clientSecret, resource, scope, refreshToken } = oauth;
    if (refreshToken === undefined) return undefined;
    const form = new URLSearchParams({
      ...{ grant_type: "refresh_token", refresh_token: refreshToken, resource },
      ...(scope === undefined ? {} : { scope }),
      ...(clientSecret === undefined ? { client_id: clientId } : {}),
    });
    const named = reachedAs(server, tokenEndpoint);
    const basic = clientSecret === undefined ? {} : {
      authorization: `Basic ${
        Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)
          .toString("base64")
      }`,
    };
    let answer = await ask(tokenEndpoint, basic, { body: form.toString(), named });
    if (answer.status === 401 && clientSecret !== undefined) {
      form.set("client_id", clientId);
      form.set("client_secret", clientSecret);
      answer = await ask(tokenEndpoint, {}, { body: form.toString(), named });
    }
    if (answer.status !== 200 || answer.cut) return undefined;
    const renewal = Renewed.safeParse(jsonOf(answer.body));
    if (!renewal.success) return undefined;
    const { access_token, expires_in, refresh_token, scope: granted } = renewal.data;
    const { expiresAt: _old, ...rest } = oauth;
    return {
      ...rest,
      accessToken: access_token,
      ...(expires_in === undefined ? {} : { expiresAt: powers.now() + expires_in * 1_000 }),
      refreshToken: refresh_token ?? refreshToken,
      ...(granted === undefined ? {} : { scope: granted }),
    };
  };

  /** Runs one renewal at a time, because a rotated refresh token works once. */
  const renew = (server: ImportedServer, entry: Lent): Promise<boolean> => {
    entry.renewing ??= (async (): Promise<boolean> => {
      const { oauth } = entry;
      const next = oauth === undefined ? undefined : await renewed(server, oauth);
      if (next === undefined || lent.get(server.name) !== entry) return false;
      entry.oauth = next;
      return true;
    })().catch((error: unknown) => {
      if (error instanceof Fault) return false;
      throw error;
    }).finally(() => entry.renewing = undefined);
    return entry.renewing;
  };

  const headersOf = (server: ImportedServer, entry: Lent | undefined): SecretHeaders => {
    const given = entry?.loan.headers ?? {};
    const named = server.secretHeaders.filter((name) => Object.hasOwn(given, name));
    const headers: Record<string, string> = {};
    for (const name of named) headers[name] = given[name] ?? "";
    const secrets = Object.values(headers).map(secretOf);
    const { oauth } = entry ?? {};
    if (oauth === undefined || !isFor(oauth, server)) {
      return { headers, secrets, renewable: false };
    }
    headers["authorization"] = `Bearer ${oauth.accessToken}`;
    return {
      headers,
      secrets: [...secrets, { value: oauth.accessToken, prefix: "Bearer " }],
      renewable: oauth.refreshToken !== undefined,
    };
  };

  return Object.freeze<McpTokens>({
    lend(loan): void {
      const before = lent.get(loan.server);
      // A command line that has not stored a rotated token yet lends the older one again.
      const stale = before?.loan.oauth !== undefined &&
        loan.oauth?.refreshToken === before.loan.oauth.refreshToken &&
        loan.oauth?.accessToken === before.loan.oauth.accessToken;
      if (before !== undefined && stale) {
        lent.set(loan.server, { ...before, loan, renewing: undefined });
      } else lent.set(loan.server, { loan, oauth: loan.oauth, renewing: undefined });
    },
    env({ name, secretEnv }) {
      const given = lent.get(name)?.loan.env ?? {};
      return Object.fromEntries(
        secretEnv.flatMap((key) => Object.hasOwn(given, key) ? [[key, given[key] ?? ""]] : []),
      );
    },
    async headers(server): Promise<SecretHeaders> {
      const entry = lent.get(server.name);
      const { expiresAt, refreshToken } = entry?.oauth ?? {};
      if (
        entry !== undefined && refreshToken !== undefined && expiresAt !== undefined &&
        expiresAt - EARLY_MS <= powers.now()
      ) await renew(server, entry);
      return headersOf(server, lent.get(server.name));
    },
    async renew(server, refused): Promise<boolean> {
      const entry = lent.get(server.name);
      if (entry?.oauth === undefined || !refused.renewable) return false;
      // Another request has renewed the token meanwhile.
      if (refused.headers["authorization"] !== `Bearer ${entry.oauth.accessToken}`) return true;
      return await renew(server, entry);
    },
    changed(server): McpOAuth | undefined {
      const entry = lent.get(server);
      return entry?.oauth === entry?.loan.oauth ? undefined : entry?.oauth;
    },
    forget: (server) => void lent.delete(server),
  });
}

/** A token goes to the resource that it was issued for and nowhere else. RFC 8707. */
function isFor(oauth: McpOAuth, { launch }: ImportedServer): boolean {
  return launch.kind === "http" && URL.canParse(oauth.resource) &&
    new URL(oauth.resource).origin === new URL(launch.url).origin;
}

/** Tells whether a token endpoint may have a private address: where the server itself has one by the operator's word. */
function reachedAs({ launch }: ImportedServer, endpoint: string): boolean {
  if (launch.kind !== "http") return false;
  const [own, there] = [new URL(launch.url), new URL(endpoint)];
  return own.origin === there.origin || isLoopback(own.hostname) && isLoopback(there.hostname);
}

/** The value without its scheme, which a server might send back. */
function secretOf(value: string): Pick<Secret, "value" | "prefix"> {
  const scheme = /^(?:Bearer|Basic|Token) +/i.exec(value)?.[0] ?? "";
  return { value: value.slice(scheme.length), prefix: scheme };
}

function jsonOf(base64: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(base64)));
  } catch {
    return undefined;
  }
}

interface McpOpsParts {
  readonly servers: Pick<McpServers, "revoke">;
  look: McpOps["mcpLook"];
  readonly tokens: Pick<McpTokens, "lend" | "changed" | "forget">;
  readonly leases: Pick<Leases, "list" | "alive" | "revoke">;
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
}

/** The operator's operations on imported servers. */
export interface McpOps {
  mcpLook(asked: {
    readonly server: ImportedServer;
    readonly observe: boolean;
    readonly deadlineMs: number;
  }): Promise<McpLook>;
  mcpLend(loan: McpLoan): void;
  mcpTokens(asked: { readonly server: string }): McpOAuth | null;
  /** Resolves with the number of ended processes. */
  mcpRevoke(asked: { readonly server: string }): Promise<{ readonly ended: number }>;
  mcpLog(asked: { readonly server: string; readonly limit: number }): Promise<
    readonly McpLogEntry[]
  >;
}

/** Makes the operator's operations. */
export function makeMcpOps(
  { servers, look, tokens, leases, store, readPrivate }: McpOpsParts,
): McpOps {
  return Object.freeze<McpOps>({
    mcpLook: (asked) => look(asked),
    mcpLend: (loan) => tokens.lend(loan),
    mcpTokens: ({ server }) => tokens.changed(server) ?? null,
    async mcpRevoke({ server }) {
      tokens.forget(server);
      const ended = servers.revoke(server);
      const own = leases.list().filter(({ id, scope }) =>
        scope.resource === "mcp" && beneath(server, scope.path) && leases.alive(id)
      );
      for (const { id } of own) await leases.revoke(id, "its server was revoked by the operator");
      return { ended: await ended };
    },
    mcpLog: (asked) => readMcpLog(store, readPrivate, asked),
  });
}
