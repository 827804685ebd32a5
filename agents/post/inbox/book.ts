/** Waiting messages in memory, and quotas by sender and box. Settled messages are only in the store. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type {
  Box,
  InboxEntry,
  InboxId,
  InboxQuotas,
  Sender,
} from "../../../contracts/exchange/inbox.ts";
import type { DocumentWrite, Store } from "../../../contracts/task/store.ts";
import { headOf, isWaiting, type Kept } from "./rows.ts";

/** Maximum waiting bytes in all boxes together. */
const MAX_BYTES = 67_108_864;
const MINUTE = 60_000;
/** Factor for peers, whose rate the operator sets at the gateway; this limit is far above it. */
const PEER_FACTOR = 10;
/** Maximum senders whose rate is remembered; those silent for a minute are dropped. */
const MAX_RATED = 10_000;

/** A waiting message. */
export interface Slot extends Kept {
  /** A write of the message is running: it must not be changed or shown meanwhile. */
  busy: boolean;
  /** Whether the message is in the store. */
  durable: boolean;
}

interface Tally {
  count: number;
  bytes: number;
  readonly ids: Set<InboxId>;
}

/** The waiting messages. */
export interface InboxBook {
  get(id: InboxId): Slot | undefined;
  /** Durable waiting messages in order of arrival, optionally of one box. */
  waiting(box?: Box): readonly InboxEntry[];
  /** Waiting messages of a sender, including those being written. */
  of(sender: Sender): readonly InboxEntry[];
  /** Throws `rateLimited` if a message would exceed a quota. */
  checkQuota(sender: Sender, box: Box, bytes: number): void;
  /** Counts one message of a sender; throws `rateLimited`. */
  checkRate(sender: Sender, now: number): void;
  put(slot: Slot): void;
  /** Removes a message. */
  remove(id: InboxId): void;
  /** Remembers the head of a settled message. */
  settle(entry: InboxEntry): void;
  settled(): readonly InboxEntry[];
  /** The head of a settled message. */
  head(id: InboxId): InboxEntry | undefined;
  /** The next expiry of a waiting message; Infinity if none expires. */
  nextExpiry(): number;
  /** Expired waiting messages. */
  expired(now: number): readonly InboxEntry[];
}

export function makeInboxBook(quotas: InboxQuotas): InboxBook {
  const slots = new Map<InboxId, Slot>();
  const senders = new Map<string, Tally>();
  const boxes = new Map<string, Tally>();
  const rates = new Map<Sender, { minute: number; count: number }>();
  const settled = new Map<InboxId, InboxEntry>();
  let bytes = 0;
  let expiry = Infinity;

  const tally = (all: Map<string, Tally>, key: string, slot: Slot, by: 1 | -1): void => {
    const found = all.get(key) ?? { count: 0, bytes: 0, ids: new Set<InboxId>() };
    found.count += by;
    found.bytes += by * slot.entry.bytes;
    if (by === 1) found.ids.add(slot.entry.id);
    else found.ids.delete(slot.entry.id);
    if (found.count === 0) all.delete(key);
    else all.set(key, found);
  };
  const count = (slot: Slot, by: 1 | -1): void => {
    bytes += by * slot.entry.bytes;
    tally(senders, slot.entry.message.sender, slot, by);
    tally(boxes, slot.entry.box, slot, by);
  };
  const all = (ids: Iterable<InboxId>): readonly InboxEntry[] =>
    [...ids].flatMap((id) => {
      const slot = slots.get(id);
      return slot?.durable === true ? [slot.entry] : [];
    }).sort((a, b) => a.n - b.n);
  const full = (what: string): Fault =>
    new Fault("rateLimited", `Cannot take the message: ${what}; let what waits be read first`);

  const remove = (id: InboxId): void => {
    const slot = slots.get(id);
    if (slot === undefined) return;
    slots.delete(id);
    count(slot, -1);
  };

  return Object.freeze<InboxBook>({
    get: (id: InboxId) => slots.get(id),
    waiting: (box?: Box) => all(box === undefined ? slots.keys() : boxes.get(box)?.ids ?? []),
    of: (sender: Sender) =>
      [...senders.get(sender)?.ids ?? []].flatMap((id) => slots.get(id)?.entry ?? []),
    checkQuota(sender: Sender, box: Box, size: number): void {
      if ((senders.get(sender)?.count ?? 0) >= quotas.perSender) {
        throw full(`${quotas.perSender} messages of its sender wait`);
      }
      if ((boxes.get(box)?.count ?? 0) >= quotas.perBox) {
        throw full(`${quotas.perBox} messages wait in its inbox`);
      }
      if ((boxes.get(box)?.bytes ?? 0) + size > quotas.queuedBytes || bytes + size > MAX_BYTES) {
        throw full("too many bytes wait");
      }
    },
    checkRate(sender: Sender, now: number): void {
      const minute = Math.floor(now / MINUTE);
      const rate = rates.get(sender);
      if (rate === undefined || rate.minute !== minute) {
        if (rates.size >= MAX_RATED) {
          for (const [each, { minute: of }] of rates) if (of !== minute) rates.delete(each);
        }
        rates.set(sender, { minute, count: 1 });
        return;
      }
      const most = quotas.perMinute * (sender.startsWith("peer:") ? PEER_FACTOR : 1);
      if (rate.count >= most) {
        throw full(`${most} messages of its sender came in this minute`);
      }
      rate.count += 1;
    },
    put(slot: Slot): void {
      remove(slot.entry.id);
      slots.set(slot.entry.id, slot);
      count(slot, 1);
      expiry = Math.min(expiry, slot.entry.message.expiresAt ?? Infinity);
    },
    remove,
    settle(entry: InboxEntry): void {
      if (isWaiting(entry.state)) return;
      settled.delete(entry.id);
      settled.set(entry.id, headOf(entry));
      for (const id of settled.keys()) {
        if (settled.size <= quotas.remembered) break;
        settled.delete(id);
      }
    },
    head: (id: InboxId) => settled.get(id),
    settled: () => [...settled.values()].sort((a, b) => a.n - b.n),
    nextExpiry: () => expiry,
    expired(now: number): readonly InboxEntry[] {
      const over: InboxEntry[] = [];
      expiry = Infinity;
      for (const { entry } of slots.values()) {
        const at = entry.message.expiresAt ?? Infinity;
        if (at <= now) over.push(entry);
        else expiry = Math.min(expiry, at);
      }
      return over;
    },
  });
}

const KIND = "inboxPlace";
const BLOCK = 1_000;

/** A position in the order of arrival, and the documents to write with it. */
interface Place {
  readonly n: number;
  readonly documents: readonly DocumentWrite[];
  kept(): void;
  dropped(): void;
}

/** Assigns positions in order. */
export interface Places {
  next(): Place;
}

/** Continues after the positions that earlier kernels reserved, and above `known`. */
export async function openPlaces(
  store: Pick<Store, "document">,
  known: number,
): Promise<Places> {
  const row = await store.document(KIND, KIND);
  const end = row?.body["end"];
  let version = row?.version ?? 0;
  let last = Math.max(known, typeof end === "number" ? end : 0);
  let reserved = last;
  /** A reservation is being written; no second one may be started. */
  let writing = false;

  return Object.freeze<Places>({
    next(): Place {
      last += 1;
      const n = last;
      if (n <= reserved || writing) {
        return { n, documents: [], kept: () => undefined, dropped: () => undefined };
      }
      writing = true;
      const to = n + BLOCK;
      return {
        n,
        documents: [{ kind: KIND, id: KIND, task: KIND, expect: version, body: { end: to } }],
        kept(): void {
          writing = false;
          version += 1;
          reserved = to;
        },
        dropped(): void {
          writing = false;
        },
      };
    },
  });
}
