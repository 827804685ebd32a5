/** The kernel's receipt key. @module */
import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { Fault } from "../../contracts/base/fault.ts";
import { base64url, tryBase64url } from "./seal.ts";

/** Signs with the receipt key. The private half stays in the closure. */
export interface Signer {
  /** Raw Ed25519 public key, base64url, 43 characters. */
  readonly publicKey: string;
  /** Ed25519 signature, 64 bytes. Synchronous: 12 µs. */
  sign(message: Uint8Array): Uint8Array;
}

/** File access and randomness for a key. */
export interface KeyPowers {
  /** Undefined when there is no such file. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Durable when it resolves; rejects when the file exists. */
  writeNew(path: string, bytes: Uint8Array, mode: number): Promise<void>;
  /** Bytes from a secure source. */
  random(length: number): Uint8Array;
}

// PKCS #8 (RFC 8410) before the 32 bytes of an Ed25519 seed, and SPKI before a raw public key.
const PKCS8 = "302e020100300506032b657004220420";
const SPKI = "302a300506032b6570032100";

/**
 * A signer for a 32-byte Ed25519 seed.
 * @throws Fault `invalidInput` for another length.
 */
export function makeSigner(seed: Uint8Array): Signer {
  if (seed.length !== 32) {
    throw new Fault("invalidInput", "Cannot use receipt key: a seed is 32 bytes");
  }
  const der = Buffer.concat([Buffer.from(PKCS8, "hex"), seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return Object.freeze({
    publicKey: base64url(spki.subarray(-32)),
    sign: (message: Uint8Array) => sign(null, message, key),
  });
}

/** Checks one signature of one key. */
export type SignatureCheck = (message: Uint8Array, signature: Uint8Array) => boolean;

/**
 * A check for the raw Ed25519 key `publicKey` (base64url).
 * @throws Fault `invalidInput` for any other text.
 */
export function makeSignatureCheck(publicKey: string): SignatureCheck {
  const raw = tryBase64url(publicKey);
  if (raw?.length !== 32) {
    throw new Fault("invalidInput", "Cannot verify: the public key is not 32 bytes in base64url");
  }
  const der = Buffer.concat([Buffer.from(SPKI, "hex"), raw]);
  const key: KeyObject = createPublicKey({ key: der, format: "der", type: "spki" });
  return (message, signature) => signature.length === 64 && verify(null, message, key, signature);
}

/**
 * The receipt key stored at `path`: read, or created at first use with mode 0600. The file contains
 * the seed in base64url and a newline.
 * @throws Fault `invalidInput` for a file without a key; it is never overwritten.
 */
export async function loadOrMakeReceiptKey(
  { powers, path }: { readonly powers: KeyPowers; readonly path: string },
): Promise<Signer> {
  const stored = await powers.read(path);
  if (stored === undefined) {
    const seed = powers.random(32);
    await powers.writeNew(path, new TextEncoder().encode(`${base64url(seed)}\n`), 0o600);
    return makeSigner(seed);
  }
  const seed = tryBase64url(new TextDecoder().decode(stored).trimEnd());
  if (seed?.length !== 32) {
    throw new Fault("invalidInput", `Cannot read receipt key "${path}": it holds no key`);
  }
  return makeSigner(seed);
}
