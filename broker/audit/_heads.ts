/** Where the chains of a store end, and whether a log may go on from there. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Store } from "../../contracts/store.ts";
import { KERNEL_CHAIN } from "./hash_event.ts";
import type { Head } from "./log.ts";
import { sealBefore } from "./seal_before.ts";
import { sealMessage, trySealBody } from "./seal.ts";
import { makeSignatureCheck } from "./signer.ts";

function broken(why: string): Fault {
  return new Fault(
    "storeCorrupt",
    `Cannot open log: ${why}; see "remit audit verify", and "remit audit repair" to cut it back`,
  );
}

/** The end of each chain. Checks the last seal only: `verifyLog` checks everything. */
export async function loadHeads(store: Store, publicKey: string): Promise<Map<string, Head>> {
  const heads = new Map<string, Head>();
  for (const { task, n, hash } of await store.heads()) heads.set(task, { n, hash });
  if (heads.size === 0) return heads;
  const head = heads.get(KERNEL_CHAIN);
  if (head === undefined) throw broken("it has no seal");
  const [seal] = await store.events({ task: KERNEL_CHAIN, fromN: head.n, limit: 1 });
  const body = seal?.kind === "seal" ? trySealBody(seal.body) : undefined;
  if (seal === undefined || body === undefined) throw broken("it does not end in a seal");
  const after = await store.events({ afterSeq: seal.seq, limit: 1 });
  if (after.length > 0) throw broken("events follow its last seal");
  const before = await sealBefore(store, { seq: seal.seq, covered: body.hashes.length });
  const message = sealMessage(before, body.hashes);
  if (!makeSignatureCheck(publicKey)(message, body.signature)) {
    throw broken("its last seal is not signed with this receipt key");
  }
  return heads;
}
