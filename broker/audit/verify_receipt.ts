/** The offline check of a receipt: no store, no network, the kernel's public key alone. @module */
import { Receipt, type Seal, type SealedEvent } from "../../contracts/receipt.ts";
import { hashEvent } from "./hash_event.ts";
import { tryObject } from "./private.ts";
import { sealMessage, tryBase64url } from "./seal.ts";
import { makeSignatureCheck } from "./signer.ts";

/** What the check came to. */
export interface ReceiptVerdict {
  readonly ok: boolean;
  /** One sentence. */
  readonly reason: string;
  /** The key that signed, when the receipt is well formed: to compare where none was given. */
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

/** One call: an end, after any intents of the same call. */
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
 * Checks a receipt, whatever it is. Without `publicKey` (raw Ed25519, base64url) it is checked
 * against the key inside, which shows that it is whole, not whose it is.
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
