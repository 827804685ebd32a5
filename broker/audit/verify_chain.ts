/** The check of one task's chain: what a kernel looks at before it goes on with the task. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Digest } from "../../contracts/ids.ts";
import type { Store, StoredEvent } from "../../contracts/store.ts";
import { GENESIS, hashEvent } from "./hash_event.ts";
import { readPrivate } from "./private.ts";

const PAGE = 1_000;

/**
 * Recomputes the hashes and the contents of one chain, from its first event to its last. Seals are
 * left to `verifyLog`: this finds damage, not a forger.
 *
 * @throws Fault `storeCorrupt` naming the first event that is not as it was written
 */
export async function verifyChain(
  store: Pick<Store, "events" | "blob">,
  task: string,
): Promise<void> {
  let prev: Digest = GENESIS;
  for (let n = 0;;) {
    const page = await store.events({ task, fromN: n, limit: PAGE });
    for (const event of page) {
      if (event.n !== n) throw damaged(event, `event ${n} is not before it`);
      if (hashEvent({ ...event, prev }) !== event.hash) {
        throw damaged(event, "its fields do not give its hash");
      }
      await readPrivate(store, event);
      prev = event.hash;
      n++;
    }
    if (page.length < PAGE) return;
  }
}

function damaged({ task, n, seq }: StoredEvent, why: string): Fault {
  return new Fault("storeCorrupt", `Cannot go on with task ${task}: event ${n} (${seq}): ${why}`);
}
