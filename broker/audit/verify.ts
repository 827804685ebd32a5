/** Verifies a store's log. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import type { Store, StoredEvent } from "../../contracts/task/store.ts";
import {
  type BadEvent,
  type CheckedSeal,
  type Content,
  makeVerifier,
  type ReadItem,
  type Verifier,
  type VerifyOptions,
  type VerifyReport,
} from "./verifier.ts";
import { privateDigest, readPrivate } from "./private.ts";
import { GENESIS, hashEvent, KERNEL_CHAIN } from "./seal.ts";

/** Events per read. Between two reads the store can serve other requests. */
const PAGE = 250;
/** Chain heads per read, about 2 ms. */
const HEADS = 250;

function isCorrupt(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "storeCorrupt";
}

async function contentOf(store: Store, event: StoredEvent): Promise<Content> {
  const digest = privateDigest(event.body);
  if (digest === undefined) return { kind: "none" };
  try {
    const blob = await store.blob(event.task, digest);
    return blob === undefined ? { kind: "absent" } : { kind: "present", ...blob };
  } catch (error) {
    if (isCorrupt(error)) return { kind: "unreadable" };
    throw error;
  }
}

/** Reads the page after `afterSeq`; for a damaged page the rows before the damage, and the fault. */
async function readPage(
  store: Store,
  afterSeq: number,
): Promise<{ readonly events: readonly StoredEvent[]; readonly fault?: Fault }> {
  try {
    return { events: await store.events({ afterSeq, limit: PAGE }) };
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
  const events: StoredEvent[] = [];
  for (let seq = afterSeq;;) {
    try {
      const [event] = await store.events({ afterSeq: seq, limit: 1 });
      if (event === undefined) return { events };
      events.push(event);
      seq = event.seq;
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      return { events, fault: error };
    }
  }
}

/** Reads a store's events with their contents up to the first unreadable event, which the last item names. */
export async function* storeItems(store: Store, after = 0): AsyncGenerator<ReadItem> {
  for (let seq = after;;) {
    const { events, fault } = await readPage(store, seq);
    for (const event of events) {
      yield { event, content: await contentOf(store, event) };
      // Rows come in ascending order; if damage breaks the order, continue all the same.
      seq = Math.max(seq + 1, event.seq);
    }
    if (fault !== undefined) {
      yield { unreadable: (events.at(-1)?.seq ?? seq) + 1, why: fault.message };
      return;
    }
    if (events.length === 0) return;
  }
}

/** The head of each chain at the last event read, so that later appends do not matter. */
async function headsAt(store: Store, untilSeq: number): Promise<ReadonlyMap<string, Digest>> {
  const heads = new Map<string, Digest>();
  let after: string | undefined;
  for (;;) {
    const place = after === undefined ? {} : { after };
    const page = await store.heads({ ...place, untilSeq, limit: HEADS });
    for (const { task, hash } of page) heads.set(task, hash);
    after = page.at(-1)?.task;
    if (after === undefined || page.length < HEADS) return heads;
  }
}

async function endOf(store: Store, verifier: Verifier, read: number): Promise<VerifyReport> {
  if (verifier.stopped()) return verifier.end();
  try {
    return verifier.end(await headsAt(store, read));
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return verifier.end(new Map());
  }
}

/**
 * Verifies a complete log: every chain and seal, each event under exactly one seal and in order,
 * and every content that still exists. Reports the first bad event. A tail cut off after a seal is
 * detected only with a `head` stored elsewhere. Never writes.
 *
 * A damaged file is reported as `unreadable`; if the store cannot be opened at all, opening it
 * throws `storeCorrupt`.
 */
export async function verifyLog(
  { store, ...options }: VerifyOptions & { readonly store: Store },
): Promise<VerifyReport> {
  const verifier = makeVerifier(options);
  let read = 0;
  for await (const item of storeItems(store)) {
    if (!("unreadable" in item)) read = item.event.seq;
    verifier.feed(item);
    if (verifier.stopped()) break;
  }
  return await endOf(store, verifier, read);
}

const FIRST: CheckedSeal = { seq: 0, hash: GENESIS };

/**
 * Verifies the events after a seal that was verified before, with the same checks, and nothing
 * before it. Returns the last intact seal and the first bad event after it. If that seal is
 * missing, the complete log is verified: it was repaired, restored or rewritten.
 */
export async function verifyFrom(
  { store, publicKey, from = FIRST, most = Infinity }: {
    readonly store: Store;
    readonly publicKey: string;
    readonly from?: CheckedSeal;
    /** Number of events after which verification stops at the next seal, so that progress can be saved. */
    readonly most?: number;
  },
): Promise<{ readonly reached: CheckedSeal; readonly bad?: BadEvent }> {
  const [seal] = from.seq === 0
    ? []
    : await store.events({ afterSeq: from.seq - 1, untilSeq: from.seq, limit: 1 });
  if (from.seq > 0 && seal?.hash !== from.hash) {
    return await verifyFrom({ store, publicKey, from: FIRST, most });
  }
  const verifier = makeVerifier({ publicKey, from });
  if (seal !== undefined) verifier.know(KERNEL_CHAIN, { n: seal.n, hash: seal.hash });
  for await (const item of storeItems(store, from.seq)) {
    if (!("unreadable" in item)) {
      const { task, n } = item.event;
      const [before] = verifier.knows(task) || n === 0
        ? []
        : await store.events({ task, fromN: n - 1, untilSeq: from.seq, limit: 1 });
      // If another event is there, the check of this event finds that it does not follow.
      if (before?.n === n - 1) verifier.know(task, { n: before.n, hash: before.hash });
    }
    const whole = verifier.feed(item).length > 0;
    if (verifier.stopped() || (whole && verifier.reached().seq - from.seq >= most)) break;
  }
  const { bad } = verifier.end();
  const reached = verifier.reached();
  return bad === undefined ? { reached } : { reached, bad };
}

const CHAIN_PAGE = 1_000;

/**
 * Verifies the hashes and contents of one chain, first event to last. Does not check seals
 * (`verifyLog` does): this detects damage, not forgery.
 *
 * @throws Fault `storeCorrupt` naming the first bad event
 */
export async function verifyChain(
  store: Pick<Store, "events" | "blob">,
  task: string,
): Promise<void> {
  let prev: Digest = GENESIS;
  for (let n = 0;;) {
    const page = await store.events({ task, fromN: n, limit: CHAIN_PAGE });
    for (const event of page) {
      if (event.n !== n) throw damaged(event, `event ${n} is not before it`);
      if (hashEvent({ ...event, prev }) !== event.hash) {
        throw damaged(event, "its fields do not give its hash");
      }
      await readPrivate(store, event);
      prev = event.hash;
      n++;
    }
    if (page.length < CHAIN_PAGE) return;
  }
}

function damaged({ task, n, seq }: StoredEvent, why: string): Fault {
  return new Fault("storeCorrupt", `Cannot go on with task ${task}: event ${n} (${seq}): ${why}`);
}
