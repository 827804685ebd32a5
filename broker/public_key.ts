/** Raw Ed25519 keys and signatures, as people's answers and delegations carry them. @module */
import { createPublicKey, type KeyObject } from "node:crypto";
import { Fault } from "../contracts/mod.ts";

/** Reads a raw public key, base64url. @throws {Fault} `invalidInput` */
export function publicKey(raw: string): KeyObject {
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: raw }, format: "jwk" });
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot take a key that answers: not a raw Ed25519 key", {
      cause,
    });
  }
}

/** Reads a signature, base64url. @throws {Fault} `refused` */
export function signatureBytes(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch (cause) {
    throw new Fault("refused", "Cannot take the answer: its signature is not base64url", { cause });
  }
}
