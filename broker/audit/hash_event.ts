/** The hash that chains events. DESIGN section 6. @module */
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
 * The hash of an event: SHA-256 over these bytes, laid end to end:
 *
 * 1. the ASCII text `remit event 1` and one newline (0x0a);
 * 2. the 32 raw bytes of the hash of the event before it in its chain (zeros for the first);
 * 3. the JSON text of the array `[task, n, kind, at]` without spaces, and one newline;
 * 4. the body, UTF-8.
 *
 * The third part holds no raw newline and the fourth is the rest, so no two events share their bytes.
 */
export function hashEvent({ prev, task, n, kind, at, body }: HashedFields): Digest {
  const place = JSON.stringify([task, n, kind, at]);
  return sha256Hex("remit event 1\n", Uint8Array.fromHex(prev), `${place}\n`, body);
}
