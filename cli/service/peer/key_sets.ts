/**
 * The public keys of issuers, fetched when a token asks for one and kept for a while. Where a set is said by remit.yaml or
 * by the issuer's own metadata, and never by a token. RFC 7517, RFC 8414.
 * @module
 */
import * as z from "zod";
import { Fault, type PeerAuth } from "../../../contracts/mod.ts";
import { loginUrl, sameIssuer } from "../../mcp/registry/login/net.ts";

/** One public key of a set. Untrusted. */
export type PublicJwk = Readonly<Record<string, unknown>> & { readonly kid?: string | undefined };

/** What an issuer's documents are fetched with: bounded, vetted, near addresses only where the issuer itself is near. */
export interface KeyFetch {
  get(url: URL, issuer: URL): Promise<{ readonly status: number; readonly json: unknown }>;
}

/** The keys of issuers. */
export interface KeySets {
  /** Keys of an issuer, those with this `kid` where the token names one. Rejects with a Fault where there are none to be had. */
  keys(auth: Pick<PeerAuth, "issuer" | "jwks">, kid: string | undefined): Promise<
    readonly PublicJwk[]
  >;
}

const FRESH_MS = 10 * 60_000;
/** Kept keys are good for this long while their issuer does not answer. */
const STALE_MS = 60 * 60_000;
/** Least time between two fetches of one set, whatever tokens say. */
const PAUSE_MS = 60_000;
const MOST_KEYS = 64;

const Set_ = z.object({
  keys: z.array(z.looseObject({ kid: z.string().max(512).optional() })).max(MOST_KEYS),
});
const Metadata = z.object({ issuer: z.string().max(2_048), jwks_uri: z.string().max(2_048) });

interface Held {
  keys: readonly PublicJwk[];
  /** When they came; minus infinity before. */
  at: number;
  triedAt: number;
  under: Promise<void> | undefined;
}

/** Makes an empty store of key sets. `now` is milliseconds. */
export function makeKeySets(parts: { readonly fetch: KeyFetch; now(): number }): KeySets {
  const held = new Map<string, Held>();

  const refresh = async (auth: Pick<PeerAuth, "issuer" | "jwks">, set: Held): Promise<void> => {
    set.triedAt = parts.now();
    const issuer = new URL(auth.issuer);
    const url = auth.jwks === undefined
      ? await findSet(parts.fetch.get, issuer, auth.issuer)
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
        { keys: [], at: -Infinity, triedAt: -Infinity, under: undefined };
      held.set(name, set);
      const matching = (): readonly PublicJwk[] =>
        kid === undefined ? set.keys : set.keys.filter((key) => key.kid === kid);
      const old = parts.now() - set.at > FRESH_MS;
      if ((old || matching().length === 0) && parts.now() - set.triedAt >= PAUSE_MS) {
        set.under ??= refresh(auth, set).finally(() => set.under = undefined);
      }
      try {
        await set.under;
      } catch (error) {
        // The issuer's silence does not end its tokens at once.
        if (parts.now() - set.at > STALE_MS) throw error;
      }
      if (parts.now() - set.at > STALE_MS) throw noKeys("it did not answer");
      return matching();
    },
  });
}

/** Where an issuer says that its keys are. */
async function findSet(get: KeyFetch["get"], issuer: URL, said: string): Promise<URL> {
  const path = issuer.pathname === "/" ? "" : issuer.pathname.replace(/\/$/, "");
  const places = [
    `${issuer.origin}/.well-known/oauth-authorization-server${path}`,
    `${issuer.origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of places) {
    const { status, json } = await get(new URL(place), issuer);
    const parsed = Metadata.safeParse(json);
    if (status !== 200 || !parsed.success) continue;
    if (!sameIssuer(parsed.data.issuer, said)) throw noKeys("its metadata names another issuer");
    return loginUrl(parsed.data.jwks_uri, "its key set", issuer);
  }
  throw noKeys("it has no metadata that names its keys");
}

function noKeys(why: string): Fault {
  return new Fault(
    "unavailable",
    `Cannot check a token: the issuer's keys are not to be had: ${why}`,
  );
}
