/** Receipts: an event's proof, cut out of the log. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Receipt, Seal, SealedEvent } from "../../contracts/receipt.ts";
import type { Store, StoredEvent } from "../../contracts/store.ts";
import { GENESIS } from "./hash_event.ts";
import { makeCallJoin } from "./_join.ts";
import { sealBefore } from "./seal_before.ts";
import { base64url, trySealBody } from "./seal.ts";

/** Which receipts: all of a task, or those of one call. */
export interface ReceiptQuery {
  readonly store: Store;
  readonly task: string;
  readonly call?: string;
}

function broken(why: string): Fault {
  return new Fault("storeCorrupt", `Cannot export receipt: ${why}; see "remit audit verify"`);
}

async function sealedEvent(store: Store, event: StoredEvent): Promise<SealedEvent> {
  const { task, n, kind, at, body, hash } = event;
  if (n === 0) return { task, n, kind, at, body, prev: GENESIS, hash };
  const [before] = await store.events({ task, fromN: n - 1, limit: 1 });
  if (before?.n !== n - 1) throw broken(`event ${n - 1} of ${task} is missing`);
  return { task, n, kind, at, body, prev: before.hash, hash };
}

/** The key that the log's first seal names. */
async function receiptKey(store: Store): Promise<string> {
  const [first] = await store.events({ kinds: ["seal"], limit: 1 });
  const key = first === undefined ? undefined : trySealBody(first.body)?.key;
  if (key === undefined) throw broken("the first seal is malformed");
  return key;
}

/** The seal over an event, with its row. */
async function sealOver(
  store: Store,
  event: StoredEvent,
  key: string,
): Promise<{ readonly seq: number; readonly seal: Seal }> {
  const [row] = await store.events({ afterSeq: event.seq, kinds: ["seal"], limit: 1 });
  const body = row === undefined ? undefined : trySealBody(row.body);
  if (row === undefined || body === undefined) throw broken(`event ${event.seq} has no seal`);
  const hashes = [...body.hashes];
  const prev = await sealBefore(store, { seq: row.seq, covered: hashes.length });
  return { seq: row.seq, seal: { hashes, prev, signature: base64url(body.signature), key } };
}

/**
 * A receipt for each call of a task that came to an end: its `outcome` or `refused` event, with
 * the `intent` before it where there was one, and their seals. Each verifies offline with
 * {@link verifyReceipt}.
 * @throws Fault `storeCorrupt` when the log does not hold together around a call.
 */
export async function exportReceipts(
  { store, task, call }: ReceiptQuery,
): Promise<readonly Receipt[]> {
  const join = makeCallJoin();
  const receipts: Receipt[] = [];
  let key: string | undefined;
  for (let fromN = 0;;) {
    const kinds = ["intent", "outcome", "refused"];
    const events = await store.events({ task, fromN, kinds });
    const last = events.at(-1);
    if (last === undefined) return receipts;
    for (const event of events) {
      const ended = join.feed(event);
      if (ended === undefined || (call !== undefined && ended.call !== call)) continue;
      key ??= await receiptKey(store);
      const rows = ended.intent === undefined ? [event] : [ended.intent, event];
      const seals = new Map<number, Seal>();
      for (const row of rows) {
        const { seq, seal } = await sealOver(store, row, key);
        seals.set(seq, seal);
      }
      const sealed = await Promise.all(rows.map((row) => sealedEvent(store, row)));
      receipts.push({ version: 1, events: sealed, seals: [...seals.values()] });
    }
    fromN = last.n + 1;
  }
}
