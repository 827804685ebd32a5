/** Weights for attacks on the store, and their signers. */
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { signedText } from "../../models/weights/store.ts";
import { makeTinyGguf } from "../../models/_fixture/tiny_gguf.ts";

/** Weights that load. */
export const WEIGHTS: Uint8Array<ArrayBuffer> = makeTinyGguf({ seed: 7, contextTokens: 32_768 });

/** SHA-256 of bytes, hex. */
export const sha256Of = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

/** Digest of {@link WEIGHTS}. */
export const SHA256 = sha256Of(WEIGHTS);

/** One changed byte in the middle of the file. */
export function flipped(bytes: Uint8Array, at = bytes.length - 1_000): Uint8Array<ArrayBuffer> {
  const other = Uint8Array.from(bytes);
  other[at] = (other[at] ?? 0) ^ 1;
  return other;
}

/** A signer's key, as remit.yaml names it, with its signatures. */
export function signer(): {
  readonly key: string;
  sign(bytes: Uint8Array): { key: string; value: string };
} {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "jwk" }).x ?? "";
  const key = Uint8Array.fromBase64(raw, { alphabet: "base64url" }).toHex();
  return {
    key,
    sign(bytes) {
      const signed = { sha256: sha256Of(bytes), bytes: bytes.length };
      const text = new TextEncoder().encode(signedText(signed));
      return { key, value: sign(null, text, privateKey).toString("hex") };
    },
  };
}
