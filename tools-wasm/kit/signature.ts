/** Signatures of plugins: Ed25519 over the manifest, which pins the code. @module */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { Fault, toJson } from "../../contracts/base/mod.ts";
import { PluginManifest } from "../../contracts/tool/mod.ts";
import { canonicalJson } from "../../port/mod.ts";

/** The state of a signature: absent, by a key of remit.yaml, by another key, or invalid. */
export type SignatureState = "none" | "known" | "unknown" | "wrong";

/** The signed bytes: `remit plugin`, a line end, the canonical manifest without signature. */
function signedBytes(manifest: PluginManifest): Uint8Array {
  const { signature: _, ...body } = manifest;
  return new TextEncoder().encode(`remit plugin\n${canonicalJson(toJson(body))}`);
}

function publicKey(hex: string): KeyObject {
  const x = Uint8Array.fromHex(hex).toBase64({ alphabet: "base64url", omitPadding: true });
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

/** Checks a manifest's signature against the keys (hex) that remit.yaml trusts. */
export function checkSignature(
  manifest: PluginManifest,
  toolKeys: readonly string[],
): SignatureState {
  const { signature } = manifest;
  if (signature === undefined) return "none";
  let holds: boolean;
  try {
    const value = Uint8Array.fromHex(signature.value);
    holds = verify(null, signedBytes(manifest), publicKey(signature.key), value);
  } catch (error) {
    // 32 bytes that are not a point of the curve.
    if (!(error instanceof Error)) throw error;
    holds = false;
  }
  if (!holds) return "wrong";
  return toolKeys.includes(signature.key) ? "known" : "unknown";
}

/**
 * Signs a manifest with an Ed25519 private key in PEM (PKCS#8).
 *
 * @throws Fault `invalidInput` for any other key
 */
export function signManifest(manifest: PluginManifest, pem: string): PluginManifest {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Without its cause, which may repeat parts of the key.
    throw notAKey();
  }
  if (key.asymmetricKeyType !== "ed25519") throw notAKey();
  const { x } = createPublicKey(key).export({ format: "jwk" });
  if (typeof x !== "string") throw notAKey();
  const value = sign(null, signedBytes(manifest), key).toString("hex");
  return PluginManifest.parse({
    ...manifest,
    signature: { key: Uint8Array.fromBase64(x, { alphabet: "base64url" }).toHex(), value },
  });
}

function notAKey(): Fault {
  return new Fault(
    "invalidInput",
    "Cannot sign: the key file holds no Ed25519 private key in PEM; make one with " +
      '"openssl genpkey -algorithm ed25519 -out FILE"',
  );
}
