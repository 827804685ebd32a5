/** WebCrypto for card signatures, and a stand-in for Node.js's Buffer. @module */
import type { PeerCrypto } from "./find_card.ts";

const ALGORITHMS = {
  EdDSA: { key: { name: "Ed25519" }, verify: { name: "Ed25519" } },
  ES256: {
    key: { name: "ECDSA", namedCurve: "P-256" },
    verify: { name: "ECDSA", hash: "SHA-256" },
  },
} as const;

/** SHA-256 and signature checks with WebCrypto. */
export const cipher: PeerCrypto = Object.freeze<PeerCrypto>({
  async sha256(bytes) {
    return new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes));
  },
  async verify({ alg, jwk }, signature, data) {
    const { subtle } = globalThis.crypto;
    const algorithm = ALGORITHMS[alg];
    const key = await subtle.importKey("jwk", jwk, algorithm.key, false, ["verify"]);
    return await subtle.verify(algorithm.verify, key, signature, data);
  },
});

/** Defines a Buffer for the SDK's base64, since loading Node.js's takes milliseconds. */
export function standInForBuffer(): void {
  const from = (value: string | Uint8Array): Uint8Array => {
    const bytes = typeof value === "string" ? Uint8Array.fromBase64(value) : value.slice();
    // The SDK calls `toString("base64")` alone.
    return Object.defineProperty(bytes, "toString", {
      value: () => (bytes as Uint8Array<ArrayBuffer>).toBase64(),
    });
  };
  const value = Object.freeze({ from, isBuffer: () => false });
  Object.defineProperty(globalThis, "Buffer", { value, configurable: true, writable: true });
}
