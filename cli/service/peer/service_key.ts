/** The service's Ed25519 key as JOSE writes it: its name, its set, its signatures. RFC 7515, 7517, 7638, 8037. @module */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../../contracts/mod.ts";
import { canonicalJson } from "../../../port/mod.ts";
import type { Signer } from "../../key/person_key_powers.ts";

const base64url = (text: string): string => Buffer.from(text, "utf8").toString("base64url");

/** The key alone. `key` is the raw public key, base64url. */
export function publicJwk(key: string): JsonObject {
  return { crv: "Ed25519", kty: "OKP", x: key };
}

/** The key's name: its thumbprint. */
export function keyId(key: string): string {
  return createHash("sha256").update(canonicalJson(publicJwk(key))).digest("base64url");
}

/** The set that is served at `/.well-known/jwks.json`, JSON text. */
export function keySetText(key: string): string {
  return canonicalJson({
    keys: [{ ...publicJwk(key), kid: keyId(key), alg: "EdDSA", use: "sig" }],
  });
}

/** Signs a text as JWS; both parts are base64url. */
export function jwsOf(
  payload: string,
  { signer, head }: { readonly signer: Signer; readonly head: JsonObject },
): { readonly protected: string; readonly signature: string } {
  const first = base64url(canonicalJson(head));
  return { protected: first, signature: signer.sign(`${first}.${base64url(payload)}`) };
}

/** A detached JWS of a text: `PROTECTED..SIGNATURE`. RFC 7515, appendix F. */
export function detachedJws(payload: string, signer: Signer): string {
  const { protected: head, signature } = jwsOf(payload, {
    signer,
    head: { alg: "EdDSA", kid: keyId(signer.key) },
  });
  return `${head}..${signature}`;
}
