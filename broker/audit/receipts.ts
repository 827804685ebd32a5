/**
 * Receipts: offline proofs of calls, extracted from the log. Used by records.ts,
 * kernel/main_work.ts and cli/main.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import { Receipt, type Seal, type SealedEvent } from "../../contracts/authority/receipt.ts";
import type { Store, StoredEvent } from "../../contracts/task/store.ts";
import { tryObject } from "./private.ts";
import {
  base64url,
  GENESIS,
  hashEvent,
  sealBefore,
  sealMessage,
  tryBase64url,
  trySealBody,
} from "./seal.ts";
import { makeSignatureCheck } from "./signer.ts";

/** Selects all receipts of a task, or those of one call. */
interface ReceiptQuery {
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

/** The seal that covers an event, with its row number. */
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
 * A receipt for each finished call of a task: its `outcome` or `refused` event, the `intent` before
 * it if any, and their seals. Each verifies offline with {@link verifyReceipt}.
 * @throws Fault `storeCorrupt` when the log around a call is inconsistent.
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

/** The result of {@link verifyReceipt}. */
interface ReceiptVerdict {
  readonly ok: boolean;
  /** One sentence. */
  readonly reason: string;
  /** The signing key of a well-formed receipt, for comparison where none was given. */
  readonly key?: string;
}

const ENDS: readonly string[] = ["outcome", "refused"];

function sealFlaw(seal: Seal): string | undefined {
  const signature = tryBase64url(seal.signature);
  const raw = tryBase64url(seal.key);
  if (signature?.length !== 64 || raw?.length !== 32) return "a seal is malformed";
  const good = makeSignatureCheck(seal.key)(sealMessage(seal.prev, seal.hashes), signature);
  return good ? undefined : "a seal is not signed with its key";
}

function eventFlaw(event: SealedEvent, seals: readonly Seal[]): string | undefined {
  if (!event.body.isWellFormed()) return `event ${event.n} is not Unicode text`;
  if (hashEvent(event) !== event.hash) return `event ${event.n} was changed`;
  const covering = seals.filter((seal) => seal.hashes.includes(event.hash));
  return covering.length === 1 ? undefined : `event ${event.n} is not covered by exactly one seal`;
}

/** Checks that the events are the end of one call, after any intents of the same call. */
function shapeFlaw(events: readonly SealedEvent[]): string | undefined {
  const [end] = events.slice(-1);
  if (end === undefined || !ENDS.includes(end.kind)) return "it does not end in an outcome";
  const call = tryObject(end.body)?.["call"];
  if (typeof call !== "string") return "its outcome names no call";
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    if (event !== end && event.kind !== "intent") {
      return "only intents may stand before the outcome";
    }
    if (event.task !== end.task || tryObject(event.body)?.["call"] !== call) {
      return "its events are not of one call";
    }
    if (before === undefined) continue;
    if (before.n >= event.n) return "its events are out of order";
    if (before.n + 1 === event.n && event.prev !== before.hash) return "its events do not chain";
  }
  return undefined;
}

/**
 * Checks untrusted data as a receipt. Without `publicKey` (raw Ed25519, base64url) the receipt is
 * checked against the key inside, which shows that it is complete, not whose it is.
 */
export function verifyReceipt(receipt: unknown, publicKey?: string): ReceiptVerdict {
  const parsed = Receipt.safeParse(receipt);
  if (!parsed.success) return { ok: false, reason: "It is not a receipt of this version." };
  const { events, seals } = parsed.data;
  const key = seals[0]?.key ?? "";
  const bad = (why: string): ReceiptVerdict => ({
    ok: false,
    reason: `It is not valid: ${why}.`,
    key,
  });
  if (seals.some((seal) => seal.key !== key)) return bad("its seals name different keys");
  if (publicKey !== undefined && key !== publicKey) return bad("it is signed with another key");
  const unused = seals.some((seal) => !events.some((event) => seal.hashes.includes(event.hash)));
  if (unused) return bad("a seal covers none of its events");
  const flaw = seals.map(sealFlaw).find(Boolean) ??
    events.map((event) => eventFlaw(event, seals)).find(Boolean) ?? shapeFlaw(events);
  if (flaw !== undefined) return bad(flaw);
  const reason = publicKey === undefined
    ? "It is whole, and signed with the key that it names; compare that key with the kernel's."
    : "It is whole, and signed with the kernel's key.";
  return { ok: true, reason, key };
}

/** A finished call with its events. */
interface EndedCall {
  readonly call: string;
  readonly intent?: StoredEvent;
  readonly end: StoredEvent;
}

/** Joins intents and outcomes; takes the events of one task in order. */
export interface CallJoin {
  /** The call that this event ends; undefined for an intent or an event without a call. */
  feed(event: StoredEvent): EndedCall | undefined;
  /** Intents without an outcome, oldest first. */
  open(): readonly StoredEvent[];
}

function textOf(body: JsonObject | undefined, key: string): string {
  const value = body?.[key];
  return typeof value === "string" ? value : "";
}

/** Call ids are unique in a conversation; an outcome without a conversation ends the latest such call. */
export function makeCallJoin(): CallJoin {
  const open = new Map<string, { readonly conversation: string; readonly event: StoredEvent }[]>();

  function take(call: string, conversation: string): StoredEvent | undefined {
    const waiting = open.get(call) ?? [];
    const at = waiting.findLastIndex((each) =>
      conversation === "" || each.conversation === "" || each.conversation === conversation
    );
    const [found] = at === -1 ? [] : waiting.splice(at, 1);
    if (waiting.length === 0) open.delete(call);
    return found?.event;
  }

  return Object.freeze({
    feed(event: StoredEvent): EndedCall | undefined {
      const body = tryObject(event.body);
      const call = textOf(body, "call");
      const conversation = textOf(body, "conversation");
      if (call === "") return undefined;
      if (event.kind === "intent") {
        open.set(call, [...open.get(call) ?? [], { conversation, event }]);
        return undefined;
      }
      if (event.kind !== "outcome" && event.kind !== "refused") return undefined;
      const intent = take(call, conversation);
      return { call, end: event, ...(intent === undefined ? {} : { intent }) };
    },
    open: () => [...open.values()].flat().map(({ event }) => event).sort((a, b) => a.seq - b.seq),
  });
}
