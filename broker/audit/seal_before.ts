/** Finding the seal before a seal. @module */
import type { Digest } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import { GENESIS, KERNEL_CHAIN } from "./hash_event.ts";

/**
 * The hash of the seal before the one at place `n` of the kernel chain, which covers `covered`
 * events; {@link GENESIS} before the first. Between two seals of that chain lie only kernel events
 * that the later one covers, which bounds the search.
 */
export async function sealBefore(
  store: Pick<Store, "events">,
  n: number,
  covered: number,
): Promise<Digest> {
  const fromN = Math.max(0, n - 1 - covered);
  const seals = await store.events({
    task: KERNEL_CHAIN,
    fromN,
    kinds: ["seal"],
    limit: covered + 2,
  });
  return seals.findLast((seal) => seal.n < n)?.hash ?? GENESIS;
}
