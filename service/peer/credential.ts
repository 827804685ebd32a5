/**
 * Determines which peer a credential proves: a token that this service made, or an OAuth 2.1 access
 * token (a JWT of RFC 9068) for exactly this service's audience from exactly the issuer named in
 * remit.yaml. A name that a peer gives itself does not count, nor do a token's own claims about
 * keys (`jku`, `jwk`, `x5u`): remit.yaml or the issuer's own metadata names the key set. RFC 7517,
 * RFC 8414, RFC 8725.
 * @module
 */
import {
  type CryptoKey,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
} from "jose";
import * as z from "zod";
import { Fault } from "../../contracts/base/mod.ts";
import { PeerName } from "../../contracts/exchange/mod.ts";
import type { PeerAuth, PeerConfig } from "../../contracts/policy/mod.ts";
import { KEPT_TOKEN, openTokenBook, type TokenBook, type TokenParts } from "../hosts/mod.ts";

/** One public key of a set. Untrusted. */
export type PublicJwk = Readonly<Record<string, unknown>> & { readonly kid?: string | undefined };

/** Fetches issuers' documents, bounded; from this machine only for an issuer on this machine. */
export interface KeyFetch {
  get(url: URL, issuer: URL): Promise<{ readonly status: number; readonly json: unknown }>;
  /** Vets an address in an issuer's document; `what` names it in the refusal. Throws `refused`. */
  vet(text: string, what: string, issuer: URL): URL;
  /** Whether two names mean one issuer. RFC 8414, section 3.3. */
  same(one: string, other: string): boolean;
}

/** The keys of issuers. */
export interface KeySets {
  /** An issuer's keys, filtered by the token's `kid` if present. Rejects `unavailable`. */
  keys(auth: Pick<PeerAuth, "issuer" | "jwks">, kid: string | undefined): Promise<
    readonly PublicJwk[]
  >;
}

const FRESH_MS = 10 * 60_000;
/** Milliseconds for which stored keys stay valid while their issuer does not answer. */
const STALE_MS = 60 * 60_000;
/** Minimum time between two fetches of one set, whatever tokens claim. */
const PAUSE_MS = 60_000;
const MAX_KEYS = 64;

const Set_ = z.object({
  keys: z.array(z.looseObject({ kid: z.string().max(512).optional() })).max(MAX_KEYS),
});
const Metadata = z.object({ issuer: z.string().max(2_048), jwks_uri: z.string().max(2_048) });

interface Held {
  keys: readonly PublicJwk[];
  /** When the keys arrived; minus infinity before. */
  at: number;
  triedAt: number;
  refreshing: Promise<void> | undefined;
}

/** Makes an empty store of key sets. `now` is in milliseconds. */
export function makeKeySets(parts: { readonly fetch: KeyFetch; now(): number }): KeySets {
  const held = new Map<string, Held>();

  const refresh = async (auth: Pick<PeerAuth, "issuer" | "jwks">, set: Held): Promise<void> => {
    set.triedAt = parts.now();
    const issuer = new URL(auth.issuer);
    const url = auth.jwks === undefined
      ? await findSet(parts.fetch, issuer, auth.issuer)
      : new URL(auth.jwks);
    const { status, json } = await parts.fetch.get(url, issuer);
    const parsed = Set_.safeParse(json);
    if (status !== 200 || !parsed.success) throw noKeys(`its set answered ${status}`);
    set.keys = parsed.data.keys;
    set.at = parts.now();
  };

  return Object.freeze<KeySets>({
    async keys(auth, kid): Promise<readonly PublicJwk[]> {
      const name = `${auth.issuer}\n${auth.jwks ?? ""}`;
      const set: Held = held.get(name) ??
        { keys: [], at: -Infinity, triedAt: -Infinity, refreshing: undefined };
      held.set(name, set);
      const matching = (): readonly PublicJwk[] =>
        kid === undefined ? set.keys : set.keys.filter((key) => key.kid === kid);
      const old = parts.now() - set.at > FRESH_MS;
      if ((old || matching().length === 0) && parts.now() - set.triedAt >= PAUSE_MS) {
        set.refreshing ??= refresh(auth, set).finally(() => set.refreshing = undefined);
      }
      try {
        await set.refreshing;
      } catch (error) {
        // An issuer that does not answer does not invalidate its tokens at once.
        if (parts.now() - set.at > STALE_MS) throw error;
      }
      if (parts.now() - set.at > STALE_MS) throw noKeys("it did not answer");
      return matching();
    },
  });
}

/** The address of an issuer's keys, from its metadata. */
async function findSet(documents: KeyFetch, issuer: URL, said: string): Promise<URL> {
  const path = issuer.pathname === "/" ? "" : issuer.pathname.replace(/\/$/, "");
  const places = [
    `${issuer.origin}/.well-known/oauth-authorization-server${path}`,
    `${issuer.origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of places) {
    const { status, json } = await documents.get(new URL(place), issuer);
    const parsed = Metadata.safeParse(json);
    if (status !== 200 || !parsed.success) continue;
    if (!documents.same(parsed.data.issuer, said)) {
      throw noKeys("its metadata names another issuer");
    }
    return documents.vet(parsed.data.jwks_uri, "its key set", issuer);
  }
  throw noKeys("it has no metadata that names its keys");
}

function noKeys(why: string): Fault {
  return new Fault(
    "unavailable",
    `Cannot check a token: the issuer's keys are not to be had: ${why}`,
  );
}

/** Accepted signatures, and the key type that each requires: no `none`, no shared secret. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  EdDSA: "OKP",
  ES256: "EC",
  RS256: "RSA",
  PS256: "RSA",
};
const SKEW_S = 30;
const MAX_TOKEN = 16_384;
/** Maximum keys of one set to try where the token names none. */
const MAX_TRIED = 4;

/** What access tokens are checked with. `now` is milliseconds since 1970. */
export interface AccessTokenParts {
  readonly keys: KeySets;
  now(): number;
}

/** The issuer that a JWT claims, unproven; undefined for any other token. */
export function issuerOf(token: string): string | undefined {
  if (token.length > MAX_TOKEN || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  try {
    const { alg } = decodeProtectedHeader(token);
    const { iss } = decodeJwt(token);
    return alg !== undefined && Object.hasOwn(ALGORITHMS, alg) ? iss : undefined;
  } catch {
    // A token that does not decode proves nobody; its sender does not learn why.
    return undefined;
  }
}

/** Whether a token is this peer's; false for every wrong token, for whatever reason. */
async function provesPeer(
  token: string,
  auth: PeerAuth,
  parts: AccessTokenParts,
): Promise<boolean> {
  if (issuerOf(token) !== auth.issuer) return false;
  const { alg = "", kid } = decodeProtectedHeader(token);
  let keys: readonly PublicJwk[];
  try {
    keys = await parts.keys.keys(auth, kid);
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
  const fitting = keys.filter((key) => fits(key, alg)).slice(0, MAX_TRIED);
  for (const key of fitting) {
    const payload = await tryVerify(token, key, alg, auth, parts.now());
    if (payload !== undefined) return holds(payload, auth);
  }
  return false;
}

function fits(key: PublicJwk, alg: string): boolean {
  const { kty, use, alg: only, key_ops: ops } = key;
  return kty === ALGORITHMS[alg] && (use === undefined || use === "sig") &&
    (only === undefined || only === alg) &&
    (ops === undefined || Array.isArray(ops) && ops.includes("verify"));
}

async function tryVerify(
  token: string,
  jwk: PublicJwk,
  alg: string,
  { issuer, audience }: PeerAuth,
  now: number,
): Promise<JWTPayload | undefined> {
  try {
    const key = await importJWK(publicPart(jwk), alg) as CryptoKey;
    const { payload } = await jwtVerify(token, key, {
      ...{ issuer, audience, algorithms: [alg], typ: "at+jwt" },
      requiredClaims: ["exp", "iss", "aud"],
      clockTolerance: SKEW_S,
      currentDate: new Date(now),
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
    // WebCrypto's DataError: the JWK is not a valid key.
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}

/** The public members of a key: a set may hold private keys by mistake. */
function publicPart({ kty, crv, x, y, n, e }: PublicJwk): JWK {
  const words = { kty, crv, x, y, n, e };
  return Object.fromEntries(
    Object.entries(words).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : []
    ),
  );
}

function holds(payload: JWTPayload, { subject, scope }: PeerAuth): boolean {
  const { sub, client_id: client, scope: granted } = payload;
  if ((sub ?? client) !== subject) return false;
  if (scope === undefined) return true;
  return typeof granted === "string" && granted.split(" ").includes(scope);
}

/** The prefix of this service's own tokens for peers. */
const PEER_TOKEN = "remit_a2a_";

const PeerToken = z.object({ ...KEPT_TOKEN, peer: PeerName }).strict();
/** The stored part of a peer's token, without the token. */
export type PeerToken = z.infer<typeof PeerToken>;

/** Opens the tokens of peers, STATE/person/a2a_tokens.json: each belongs to one peer. */
export function openPeerTokens(parts: TokenParts): TokenBook<PeerToken> {
  return openTokenBook(parts, {
    ...{ file: "a2a_tokens.json", prefix: PEER_TOKEN, entry: PeerToken },
    listed: "remit a2a token list",
  });
}

/** A peer that proved its identity, with its entry in remit.yaml. */
export interface KnownPeer {
  readonly name: PeerName;
  readonly config: PeerConfig;
}

/** What credentials are checked against. */
export interface PeerDoorParts extends AccessTokenParts {
  readonly peers: Readonly<Record<string, PeerConfig>>;
  readonly tokens: Pick<TokenBook<PeerToken>, "tryFind">;
}

/** Makes the check; undefined for every wrong credential, for whatever reason. */
export function makePeerDoor(
  parts: PeerDoorParts,
): (token: string | null) => Promise<KnownPeer | undefined> {
  const known = Object.entries(parts.peers).map(([name, config]): KnownPeer => ({
    name: PeerName.parse(name),
    config,
  }));
  return async (token) => {
    if (token === null) return undefined;
    if (token.startsWith(PEER_TOKEN)) {
      const found = parts.tokens.tryFind(token);
      // A peer with an issuer may use access tokens only.
      return known.find(({ name, config }) => name === found?.peer && config.auth === undefined);
    }
    const issuer = issuerOf(token);
    if (issuer === undefined) return undefined;
    for (const peer of known) {
      const { auth } = peer.config;
      if (auth !== undefined && auth.issuer === issuer && await provesPeer(token, auth, parts)) {
        return peer;
      }
    }
    return undefined;
  };
}
