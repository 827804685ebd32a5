/** The heads of a store's chains, and the check that a log may continue from them. Used by log.ts. @module */
import type { NewEvent } from "../../contracts/task/event.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { BlobRow, EventRow, Store } from "../../contracts/task/store.ts";
import { canonicalJson } from "../../port/mod.ts";
import { KERNEL_CHAIN, MAX_SEALED, sealBefore, sealMessage, trySealBody } from "./seal.ts";
import type { Head } from "./log.ts";
import { makeBlob, SALT_BYTES } from "./private.ts";
import { makeSignatureCheck } from "./signer.ts";

function broken(why: string): Fault {
  return new Fault(
    "storeCorrupt",
    `Cannot open log: ${why}; see "remit audit verify", and "remit audit repair" to cut it back`,
  );
}

/** Maximum number of heads in memory; the least recently written are dropped. */
const MAX_KNOWN = 1_000;

/** Heads of the chains in use. A log may contain many finished chains, whose heads stay on disk. */
interface Heads {
  /** Head of the kernel's chain; undefined for an empty log. */
  kernel(): Head | undefined;
  /** Loads the heads of chains that are about to grow. */
  know(tasks: Iterable<string>): Promise<void>;
  /** Head of a loaded chain; undefined for a chain without events. */
  get(task: string): Head | undefined;
  /** Records the new heads of chains that have grown durably. */
  moved(heads: ReadonlyMap<string, Head>): void;
}

/** Opens the heads of a store's chains. Checks the last seal only: `verifyLog` checks everything. */
export async function openHeads(store: Store, publicKey: string): Promise<Heads> {
  const known = new Map<string, Head>();
  const head = await store.head(KERNEL_CHAIN);
  if (head === undefined) {
    if ((await store.events({ limit: 1 })).length > 0) throw broken("it has no seal");
  } else await checkLastSeal(store, { head, publicKey });
  let kernel: Head | undefined = head;

  return Object.freeze<Heads>({
    kernel: () => kernel,
    async know(tasks): Promise<void> {
      for (const task of tasks) {
        if (task === KERNEL_CHAIN || known.has(task)) continue;
        const found = await store.head(task);
        if (found !== undefined) known.set(task, { n: found.n, hash: found.hash });
      }
    },
    get: (task) => task === KERNEL_CHAIN ? kernel : known.get(task),
    moved(heads): void {
      for (const [task, head] of heads) {
        if (task === KERNEL_CHAIN) kernel = head;
        else {
          known.delete(task);
          known.set(task, head);
        }
      }
      for (const task of known.keys()) {
        if (known.size <= MAX_KNOWN) break;
        known.delete(task);
      }
    },
  });
}

async function checkLastSeal(
  store: Store,
  { head, publicKey }: { readonly head: Head; readonly publicKey: string },
): Promise<void> {
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
}

/** Maximum length of a body, as in contracts/authority/receipt.ts. */
const MAX_BODY = 65_536;
const CHAIN_NAME = /^[\x21-\x7e]{1,16}$/;

/** One append's events and contents. */
export interface Draft {
  readonly events: readonly Omit<EventRow, "n" | "hash">[];
  readonly blobs: readonly BlobRow[];
}

/** Encodes bodies as canonical JSON and private parts as salted blobs. Throws `tooLarge` past the limits. */
export function draftEvents(
  task: string,
  events: readonly NewEvent[],
  { at, random }: { readonly at: number; readonly random: (length: number) => Uint8Array },
): Draft {
  if (!CHAIN_NAME.test(task)) throw new TypeError(`Cannot append: "${task}" is not a chain`);
  if (events.length > MAX_SEALED) {
    throw new Fault("tooLarge", `Cannot append: more than ${MAX_SEALED} events at once`);
  }
  const blobs: BlobRow[] = [];
  const drafted = events.map(({ kind, body, private: content }) => {
    if (kind === "seal") throw new TypeError("Cannot append: seals are made by the log");
    if (Object.hasOwn(body, "private")) {
      throw new TypeError("Cannot append: `private` in a body is the log's own key");
    }
    let whole = body;
    if (content !== undefined) {
      const blob = makeBlob(task, content, random(SALT_BYTES));
      blobs.push(blob);
      whole = { ...body, private: blob.digest };
    }
    const text = canonicalJson(whole);
    if (text.length > MAX_BODY) {
      throw new Fault(
        "tooLarge",
        `Cannot append ${kind}: its body is over ${MAX_BODY} characters; content belongs in private`,
      );
    }
    return { task, kind, at, body: text };
  });
  return { events: drafted, blobs };
}
