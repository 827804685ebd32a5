/**
 * Whether an OAuth 2.1 access token proves to be a peer: a JWT of RFC 9068 for exactly our audience, from exactly the
 * issuer that remit.yaml names. What the token says of keys (`jku`, `jwk`, `x5u`) is not looked at. RFC 8725.
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
import { Fault, type PeerAuth } from "../../../contracts/mod.ts";
import type { KeySets, PublicJwk } from "./key_sets.ts";

/** Signatures that are taken, and the key type that each needs: no `none`, no shared secret. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  EdDSA: "OKP",
  ES256: "EC",
  RS256: "RSA",
  PS256: "RSA",
};
const SKEW_S = 30;
const LONGEST = 16_384;
/** Keys of one set that are tried where the token names none. */
const MOST_TRIED = 4;

/** What tokens are checked with. `now` is milliseconds since 1970. */
export interface AccessTokenParts {
  readonly keys: KeySets;
  now(): number;
}

/** The issuer that a token names, unproven; undefined for what is no JWT that could be taken. */
export function issuerOf(token: string): string | undefined {
  if (token.length > LONGEST || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  try {
    const { alg } = decodeProtectedHeader(token);
    const { iss } = decodeJwt(token);
    return alg !== undefined && Object.hasOwn(ALGORITHMS, alg) ? iss : undefined;
  } catch {
    // What does not decode is nobody's: how it is broken is not told to whoever sent it.
    return undefined;
  }
}

/** Whether a token is this peer's. Every wrong one is answered alike; rejects only for bugs. */
export async function provesPeer(
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
  const fitting = keys.filter((key) => fits(key, alg)).slice(0, MOST_TRIED);
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
    // WebCrypto says of a key that is none: DataError.
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}

/** A set that holds private keys by mistake is used for nothing but checking. */
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
