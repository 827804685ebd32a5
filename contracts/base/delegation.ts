/** A key that answers for a person: for a while, and consent alone. op `delegate`. @module */
import type { JsonObject } from "./json.ts";

/** Body of `delegate`. */
export interface Delegation {
  /** Raw Ed25519 public key, base64url. */
  readonly key: string;
  /** Milliseconds since 1970; at most seven days away. */
  readonly expiresAt: number;
  /** Of the person's consent key over the canonical JSON of {@link delegationClaim}, base64url. */
  readonly signature: string;
}

/** What the person's key signs to delegate. `kernel` is the `receiptKey` of its greeting: it is good for one state alone. */
export function delegationClaim(
  { key, expiresAt, kernel }: {
    readonly key: string;
    readonly expiresAt: number;
    readonly kernel: string;
  },
): JsonObject {
  return { delegate: key, scope: "consent", expiresAt, kernel };
}
