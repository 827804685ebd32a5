/** The hash that chains events. @module */
import { Digest } from "../../contracts/ids.ts";
import { sha256Hex } from "../../port/digest.ts";

/** The chain that holds the seals, and the kernel's own events. */
export const KERNEL_CHAIN = "kernel";

/** What stands before the first event of every chain and before the first seal: 32 zero bytes. */
export const GENESIS: Digest = Digest.parse("0".repeat(64));

/** What is hashed of an event, with the hash of the event before it in its chain. */
export interface HashedFields {
  readonly prev: Digest;
  readonly task: string;
  readonly n: number;
  readonly kind: string;
  readonly at: number;
  readonly body: string;
}

/**
 * The hash of an event: SHA-256 over this text in UTF-8, its first three lines ended by a newline
 * (0x0a):
 *
 * 1. `remit event 1`;
 * 2. the hash of the event before it in its chain, 64 hex digits (zeros for the first);
 * 3. the JSON text of the array `[task, n, kind, at]` without spaces;
 * 4. the body.
 *
 * The third line holds no raw newline and the fourth part is the rest, so no two events share their
 * text.
 */
export function hashEvent({ prev, task, n, kind, at, body }: HashedFields): Digest {
  // One text: a hash is updated with it once, and each update costs as much as 300 bytes.
  return sha256Hex(`remit event 1\n${prev}\n${JSON.stringify([task, n, kind, at])}\n${body}`);
}
