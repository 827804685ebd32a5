/** Verifies a log event by event, independent of its source. @module */
import { Digest } from "../../contracts/authority/ids.ts";
import type { StoredEvent } from "../../contracts/task/store.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { Head } from "./log.ts";
import { privateDigest } from "./private.ts";
import {
  GENESIS,
  hashEvent,
  KERNEL_CHAIN,
  type SealBody,
  sealMessage,
  trySealBody,
} from "./seal.ts";
import { makeSignatureCheck, type SignatureCheck } from "./signer.ts";

/** An event, or the position of an event that could not be read. */
export type ReadItem = Item | { readonly unreadable: number; readonly why: string };

/** What to check against. */
export interface VerifyOptions {
  /** The kernel's receipt key, raw Ed25519, base64url. */
  readonly publicKey: string;
  /** A head stored elsewhere, which the log must reach. */
  readonly head?: Digest;
  /** Continues after this seal, which was verified before; absent: start at the first event. */
  readonly from?: CheckedSeal;
}

/** A seal up to which a log was verified as intact. */
export interface CheckedSeal {
  readonly seq: number;
  readonly hash: Digest;
}

/** Maximum number of events buffered while waiting for their seal. */
const MAX_OPEN = 10_000;

/** Takes the events of a log in order of append. */
export interface Verifier {
  /** Returns the items of the group that this item completes if the group is intact, else none. */
  feed(item: ReadItem): readonly Item[];
  /** Sets a chain's head before the seal that verification continues from. */
  know(task: string, head: Head): void;
  /** Whether a chain's head is known. */
  knows(task: string): boolean;
  /** The last intact seal. */
  reached(): CheckedSeal;
  /** True after the first bad event: further items are ignored. */
  stopped(): boolean;
  /** Ends the log. `heads`, if given, are the source's own index of chain heads. */
  end(heads?: ReadonlyMap<string, Digest>): VerifyReport;
}

/** Counts contents and distinguishes erased from lost ones. */
function makeContentCount(): {
  readonly add: (item: Item) => void;
  readonly counts: () => VerifyReport["contents"];
} {
  let intact = 0;
  let erased = 0;
  const missing = new Map<string, number>();
  return {
    add({ event, content }: Item): void {
      if (content.kind === "present") intact++;
      if (content.kind === "absent") missing.set(event.task, (missing.get(event.task) ?? 0) + 1);
      if (event.kind === "purged") {
        erased += missing.get(event.task) ?? 0;
        missing.delete(event.task);
      }
    },
    counts(): VerifyReport["contents"] {
      const unexplained = [...missing.values()].reduce((sum, each) => sum + each, 0);
      return { intact, erased, unexplained };
    },
  };
}

/** A verifier for one pass over one log. */
export function makeVerifier({ publicKey, head, from }: VerifyOptions): Verifier {
  const parts: CheckParts = { publicKey, signed: makeSignatureCheck(publicKey) };
  const wanted = head === undefined ? undefined : Digest.parse(head);
  const heads = new Map<string, Head>();
  const contents = makeContentCount();
  let open: Item[] = [];
  let [seq, seals, seal]: [number, number, Digest] = [from?.seq ?? 0, 0, from?.hash ?? GENESIS];
  let reached = wanted === GENESIS;
  let bad: BadEvent | undefined;

  function close(): readonly Item[] {
    const group = open;
    open = [];
    const checked = checkGroup(group, { seq, seal, heads }, parts);
    if (checked.kind === "bad") {
      bad = checked.bad;
      return [];
    }
    for (const [task, moved] of checked.moved) heads.set(task, moved);
    seq += group.length;
    seals++;
    seal = heads.get(KERNEL_CHAIN)?.hash ?? seal;
    if (seal === wanted) reached = true;
    group.forEach(contents.add);
    return group;
  }

  /** Checks the events before an unreadable one, or before the end: their flaws come first. */
  function closeUnsealed(): BadEvent | undefined {
    if (open.length > 0) close();
    return bad;
  }

  function indexFlaw(stored: ReadonlyMap<string, Digest>): BadEvent | undefined {
    const same = stored.size === heads.size &&
      [...heads].every(([task, { hash }]) => stored.get(task) === hash);
    if (same) return undefined;
    return { seq, flaw: "badIndex", why: "the store's index of chains does not match its events" };
  }

  return Object.freeze({
    feed(item: ReadItem): readonly Item[] {
      if (bad !== undefined) return [];
      if ("unreadable" in item) {
        const before = closeUnsealed();
        bad = before !== undefined && before.flaw !== "unsealed"
          ? before
          : { seq: item.unreadable, flaw: "unreadable", why: item.why };
        return [];
      }
      open.push(item);
      const { task, kind } = item.event;
      const complete = (task === KERNEL_CHAIN && kind === "seal") || open.length >= MAX_OPEN;
      return complete ? close() : [];
    },
    know: (task: string, head: Head) => void heads.set(task, head),
    knows: (task: string) => heads.has(task),
    reached: () => ({ seq, hash: seal }),
    stopped: () => bad !== undefined,
    end(stored?: ReadonlyMap<string, Digest>): VerifyReport {
      if (bad === undefined) closeUnsealed();
      if (bad === undefined && stored !== undefined) bad = indexFlaw(stored);
      const whole = bad === undefined;
      if (whole && wanted !== undefined && !reached) {
        bad = {
          seq: seq + 1,
          flaw: "cutTail",
          why: "the log is intact so far, but does not reach the head that was kept",
        };
      }
      const tail = wanted === undefined || (!reached && !whole)
        ? "unchecked"
        : reached
        ? "intact"
        : "cut";
      const tasks = heads.size - (heads.has(KERNEL_CHAIN) ? 1 : 0);
      return Object.freeze({
        ok: bad === undefined,
        events: seq,
        seals,
        tasks,
        contents: contents.counts(),
        head: seal,
        lastSeal: seq,
        tail,
        ...(bad === undefined ? {} : { bad }),
      });
    },
  });
}

/** An event's private part in the source. */
export type Content =
  | { readonly kind: "none" | "absent" | "unreadable" }
  | { readonly kind: "present"; readonly salt: Uint8Array; readonly bytes: Uint8Array };

/** An event with its content, as read. */
export interface Item {
  readonly event: StoredEvent;
  readonly content: Content;
}

/** State after the last intact group. */
interface Progress {
  readonly seq: number;
  readonly seal: Digest;
  readonly heads: ReadonlyMap<string, Head>;
}

/** Result of checking a group. */
type Checked =
  | { readonly kind: "intact"; readonly moved: ReadonlyMap<string, Head> }
  | { readonly kind: "bad"; readonly bad: BadEvent };

/** Parts of a check that do not change from group to group. */
interface CheckParts {
  readonly publicKey: string;
  readonly signed: SignatureCheck;
}

/** `n` is set where the finding is about a missing event and not the one found. */
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
  // A lone surrogate would be hashed as U+FFFD, so that two texts had one hash.
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
 * Checks the events after the last intact seal. `items` end with a seal or with the end of the log;
 * without a seal the first event is bad as unsealed at the latest. Returns the first bad event.
 */
function checkGroup(
  items: readonly Item[],
  progress: Progress,
  parts: CheckParts,
): Checked {
  const last = items.at(-1)?.event;
  const sealed = last?.task === KERNEL_CHAIN && last.kind === "seal";
  const body = sealed ? trySealBody(last.body) : undefined;
  // A seal with a valid signature names the event of each position, whatever happened to the rows.
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

/**
 * The flaw of an event:
 * - `missing`: its position is empty, or holds a later event;
 * - `repeated`: its position in the chain was already taken;
 * - `changed`: its fields do not match its hash;
 * - `replaced`: it fits its chain, but is not the event that was sealed at this position;
 * - `content`: its private part is not the recorded one;
 * - `unsealed`: no seal covers it;
 * - `badSeal`: a seal is malformed or not signed with the key;
 * - `unreadable`: the store, or the line, cannot be read;
 * - `badIndex`: the events are intact, but the store's index of chains contradicts them;
 * - `cutTail`: the log does not contain the head stored elsewhere.
 */
type Flaw =
  | "missing"
  | "repeated"
  | "changed"
  | "replaced"
  | "content"
  | "unsealed"
  | "badSeal"
  | "unreadable"
  | "badIndex"
  | "cutTail";

/** The first bad event. */
export interface BadEvent {
  /** Its position in the order of append, from 1; for a missing event the position where it belongs. */
  readonly seq: number;
  /** Chain and number of the event found there, or of the missing one; absent if unknown. */
  readonly task?: string;
  readonly n?: number;
  readonly kind?: string;
  readonly flaw: Flaw;
  /** One sentence for a person. Holds no untrusted text. */
  readonly why: string;
}

/** The result of {@link verifyLog}: counts of intact parts, and the first bad event. */
export interface VerifyReport {
  readonly ok: boolean;
  /** Events that are intact and sealed, seals included. */
  readonly events: number;
  readonly seals: number;
  /** Chains, without the kernel's. */
  readonly tasks: number;
  readonly contents: {
    readonly intact: number;
    /** Missing, with a later `purged` event of the task. */
    readonly erased: number;
    /** Missing without a `purged` event. */
    readonly unexplained: number;
  };
  /** Hash of the last intact seal; store it elsewhere. Zeros for an empty log. */
  readonly head: Digest;
  /** `seq` of the last intact seal; 0 when there is none. */
  readonly lastSeal: number;
  /**
   * Whether the log reaches the head stored elsewhere: `unchecked` without such a head, because a
   * log cut off after a seal is a shorter intact log.
   */
  readonly tail: "intact" | "unchecked" | "cut";
  readonly bad?: BadEvent;
}
