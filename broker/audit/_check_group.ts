/** The check of one commit group: its events, and the seal that ends it. @module */
import type { Digest } from "../../contracts/ids.ts";
import type { StoredEvent } from "../../contracts/store.ts";
import { sha256Hex } from "../../port/digest.ts";
import { GENESIS, hashEvent, KERNEL_CHAIN } from "./hash_event.ts";
import type { Head } from "./log.ts";
import type { BadEvent, Flaw } from "./report.ts";
import { type SealBody, sealMessage, trySealBody } from "./seal.ts";
import type { SignatureCheck } from "./signer.ts";
import { privateDigest } from "./private.ts";

/** What a source holds of an event's private part. */
export type Content =
  | { readonly kind: "none" | "absent" | "unreadable" }
  | { readonly kind: "present"; readonly salt: Uint8Array; readonly bytes: Uint8Array };

/** An event as it was read, with its content. */
export interface Item {
  readonly event: StoredEvent;
  readonly content: Content;
}

/** Where an intact log stands so far. */
export interface Progress {
  readonly seq: number;
  readonly seal: Digest;
  readonly heads: ReadonlyMap<string, Head>;
}

/** What a group came to. */
export type Checked =
  | { readonly kind: "intact"; readonly moved: ReadonlyMap<string, Head> }
  | { readonly kind: "bad"; readonly bad: BadEvent };

/** Parts of a check that do not change from group to group. */
export interface CheckParts {
  readonly publicKey: string;
  readonly signed: SignatureCheck;
}

/** `n` where the event that is missing is named, not the one found. */
type Finding = { readonly flaw: Flaw; readonly why: string; readonly n?: number };

function contentFlaw({ event, content }: Item): Finding | undefined {
  const digest = privateDigest(event.body);
  switch (content.kind) {
    case "none":
    case "absent":
      return undefined;
    case "unreadable":
      return { flaw: "content", why: "its content cannot be read" };
    case "present":
      return digest !== undefined && sha256Hex(content.salt, content.bytes) === digest
        ? undefined
        : { flaw: "content", why: "its content is not what it was made with" };
  }
}

function chainFlaw(event: StoredEvent, head: Head): Finding | undefined {
  if (event.n > head.n + 1) {
    const n = head.n + 1;
    return { flaw: "missing", n, why: `event ${n} of its chain is not before event ${event.n}` };
  }
  if (event.n <= head.n) {
    return { flaw: "repeated", why: `place ${event.n} of its chain was taken before` };
  }
  // A lone surrogate would be hashed as U+FFFD: two texts, one hash.
  if (!event.body.isWellFormed()) return { flaw: "changed", why: "its body is not Unicode text" };
  return hashEvent({ ...event, prev: head.hash }) === event.hash
    ? undefined
    : { flaw: "changed", why: "its fields do not give its hash" };
}

function sealFlaw(
  event: StoredEvent,
  body: SealBody | undefined,
  { first, covered, parts, signed }: {
    readonly first: boolean;
    readonly covered: StoredEvent | undefined;
    readonly parts: CheckParts;
    readonly signed: boolean;
  },
): Finding | undefined {
  if (body === undefined) return { flaw: "badSeal", why: "the seal is malformed" };
  if (!signed) return { flaw: "badSeal", why: "the seal is not signed with this key" };
  if (body.key !== (first ? parts.publicKey : undefined)) {
    return { flaw: "badSeal", why: "the seal names another key" };
  }
  return event.at === covered?.at
    ? undefined
    : { flaw: "badSeal", why: "the seal's time is not its last event's" };
}

/**
 * Checks the events after the last intact seal. `items` end with a seal, or with the log (then the
 * first of them is bad at the latest for being unsealed). Names the first event that is bad.
 */
export function checkGroup(
  items: readonly Item[],
  progress: Progress,
  parts: CheckParts,
): Checked {
  const last = items.at(-1)?.event;
  const sealed = last?.task === KERNEL_CHAIN && last.kind === "seal";
  const body = sealed ? trySealBody(last.body) : undefined;
  // A seal whose signature holds says what belongs in each place, whatever became of the rows.
  const signed = body !== undefined &&
    parts.signed(sealMessage(progress.seal, body.hashes), body.signature);
  const moved = new Map<string, Head>();
  const covers = sealed ? items.length - 1 : items.length;
  for (const [i, item] of items.entries()) {
    const { event } = item;
    const seq = progress.seq + 1 + i;
    const isSeal = sealed && i === covers;
    const head = moved.get(event.task) ?? progress.heads.get(event.task) ??
      { n: -1, hash: GENESIS };
    const bad = (finding: Finding): Checked => ({
      kind: "bad",
      bad: { seq, task: event.task, n: event.n, kind: event.kind, ...finding },
    });
    if (event.seq > seq) {
      return { kind: "bad", bad: { seq, flaw: "missing", why: "no event is in its place" } };
    }
    if (event.seq < seq) return bad({ flaw: "repeated", why: "its place was taken before" });
    if (isSeal && signed && body.hashes.length !== covers) {
      return bad({ flaw: "missing", why: "an event that this seal covers is not before it" });
    }
    const chain = chainFlaw(event, head);
    if (chain !== undefined) return bad(chain);
    if (!isSeal && signed && event.hash !== body.hashes[i]) {
      return bad({ flaw: "replaced", why: "it is not what was sealed in this place" });
    }
    if (event.kind === "seal" && !isSeal) {
      return bad({ flaw: "badSeal", why: "a seal stands outside the kernel's chain" });
    }
    const finding = isSeal
      ? sealFlaw(event, body, {
        first: progress.seal === GENESIS,
        covered: items[i - 1]?.event,
        parts,
        signed,
      })
      : contentFlaw(item);
    if (finding !== undefined) return bad(finding);
    moved.set(event.task, { n: event.n, hash: event.hash });
  }
  const [first] = items;
  if (!sealed && first !== undefined) {
    const { seq, task, n, kind } = first.event;
    const why = "no seal covers it: the log ends before the end of its group";
    return { kind: "bad", bad: { seq, task, n, kind, flaw: "unsealed", why } };
  }
  return { kind: "intact", moved };
}
