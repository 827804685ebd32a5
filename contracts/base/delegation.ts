/** A key that may answer consent questions for a person until it expires: operation `delegate`. @module */
import type { JsonObject } from "./json.ts";

/** Body of `delegate`. */
export interface Delegation {
  /** Raw Ed25519 public key, base64url. */
  readonly key: string;
  /** Milliseconds since 1970; at most seven days away. */
  readonly expiresAt: number;
  /** Signature of the person's consent key over the canonical JSON of {@link delegationClaim}, base64url. */
  readonly signature: string;
}

/**
 * The claim that a person's key signs to delegate. `kernel` is the `receiptKey` of the kernel's
 * greeting and binds the claim to one state folder.
 */
export function delegationClaim(
  { key, expiresAt, kernel }: {
    readonly key: string;
    readonly expiresAt: number;
    readonly kernel: string;
  },
): JsonObject {
  return { delegate: key, scope: "consent", expiresAt, kernel };
}
