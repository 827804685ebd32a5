/** Signatures of weights: Ed25519 over their digest and size. @module */
import { createPublicKey, verify } from "node:crypto";
import * as z from "zod";
import { Fault } from "../../../contracts/mod.ts";

/** A signature beside weights: the key and the signature, hex. */
export const WeightsSignature = z.object({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  value: z.string().regex(/^[0-9a-f]{128}$/),
}).strict();
export type WeightsSignature = z.infer<typeof WeightsSignature>;

/** What is signed. */
export interface SignedWeights {
  readonly sha256: string;
  readonly bytes: number;
}

/** The text under a signature of weights. */
export function signedText({ sha256, bytes }: SignedWeights): string {
  return `remit-weights-v1\n${sha256}\n${bytes}\n`;
}

/** What a signature says: nothing, by a key of remit.yaml, by an unknown one, or a lie. */
export type WeightsSigned = "none" | "known" | "unknown" | "wrong";

/** Checks a signature against the keys that remit.yaml trusts (hex). */
export function checkWeights(
  weights: SignedWeights & { readonly signature?: WeightsSignature | undefined },
  modelKeys: readonly string[],
): WeightsSigned {
  const { signature } = weights;
  if (signature === undefined) return "none";
  const x = Uint8Array.fromHex(signature.key).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
  let holds: boolean;
  try {
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    const text = new TextEncoder().encode(signedText(weights));
    holds = verify(null, text, key, Uint8Array.fromHex(signature.value));
  } catch (error) {
    // 32 bytes that are no point of the curve.
    if (!(error instanceof Error)) throw error;
    holds = false;
  }
  if (!holds) return "wrong";
  return modelKeys.includes(signature.key) ? "known" : "unknown";
}

/**
 * Refuses weights whose signature does not hold, or is by a key that remit.yaml does not name.
 *
 * @throws Fault `refused` that says what to do
 */
export function needSignature(
  name: string,
  weights: SignedWeights & { readonly signature?: WeightsSignature | undefined },
  modelKeys: readonly string[],
): WeightsSigned {
  const signed = checkWeights(weights, modelKeys);
  if (signed === "wrong") {
    throw new Fault(
      "refused",
      `Cannot use weights "${name}": their signature is wrong; ` +
        `"remit model remove ${name}", and get them again from who signed them`,
    );
  }
  if (signed === "unknown") {
    throw new Fault(
      "refused",
      `Cannot use weights "${name}": they are signed by a key that remit.yaml does not name; ` +
        `if you trust it, add "modelKeys: [${weights.signature?.key ?? ""}]"`,
    );
  }
  return signed;
}
