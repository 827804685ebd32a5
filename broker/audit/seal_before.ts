/** Finding the seal before a seal. @module */
import type { Digest } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import { GENESIS } from "./hash_event.ts";

/**
 * The hash of the seal before the one at `seq`, which covers `covered` events; {@link GENESIS}
 * before the first. The events that a seal covers lie between the two and nothing else does.
 */
export async function sealBefore(
  store: Pick<Store, "events">,
  { seq, covered }: { readonly seq: number; readonly covered: number },
): Promise<Digest> {
  const at = seq - covered - 1;
  if (at < 1) return GENESIS;
  const [seal] = await store.events({ afterSeq: at - 1, limit: 1 });
  return seal?.kind === "seal" ? seal.hash : GENESIS;
}
