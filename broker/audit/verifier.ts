/** The check of a log, event by event, whatever it is read from. @module */
import { Digest } from "../../contracts/ids.ts";
import { checkGroup, type CheckParts, type Item } from "./_check_group.ts";
import { GENESIS, KERNEL_CHAIN } from "./hash_event.ts";
import type { Head } from "./log.ts";
import type { BadEvent, VerifyReport } from "./report.ts";
import { makeSignatureCheck } from "./signer.ts";

/** An event, or the place of one that could not be read. */
export type ReadItem = Item | { readonly unreadable: number; readonly why: string };

/** What to check against. */
export interface VerifyOptions {
  /** The kernel's receipt key, raw Ed25519, base64url. */
  readonly publicKey: string;
  /** A head that was kept elsewhere: the log must reach it. */
  readonly head?: Digest;
  /** Goes on after this seal, which was found intact before; absent: from the first event. */
  readonly from?: CheckedSeal;
}

/** A seal up to which a log was found intact. */
export interface CheckedSeal {
  readonly seq: number;
  readonly hash: Digest;
}

/** Most events between two seals that are waited for. */
const MOST_OPEN = 10_000;

/** Feeds on a log in order of append. */
export interface Verifier {
  /** The items of the group that this one completed and found intact, else none. */
  feed(item: ReadItem): readonly Item[];
  /** Tells where a chain ended before the seal that was gone on from. */
  know(task: string, head: Head): void;
  /** Tells whether the end of a chain is known. */
  knows(task: string): boolean;
  /** The last seal that was found intact. */
  reached(): CheckedSeal;
  /** True once something bad was found: nothing more is taken. */
  stopped(): boolean;
  /** Ends the log. `heads`, if given, are what the source says the chains end with. */
  end(heads?: ReadonlyMap<string, Digest>): VerifyReport;
}

/** Counts contents, and tells erased ones from lost ones. */
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
  const kept = head === undefined ? undefined : Digest.parse(head);
  const heads = new Map<string, Head>();
  const contents = makeContentCount();
  let open: Item[] = [];
  let [seq, seals, seal]: [number, number, Digest] = [from?.seq ?? 0, 0, from?.hash ?? GENESIS];
  let reached = kept === GENESIS;
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
    if (seal === kept) reached = true;
    group.forEach(contents.add);
    return group;
  }

  /** Events before an unreadable one, or before the end, may be bad in themselves: those first. */
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
      const complete = (task === KERNEL_CHAIN && kind === "seal") || open.length >= MOST_OPEN;
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
      if (whole && kept !== undefined && !reached) {
        bad = {
          seq: seq + 1,
          flaw: "cutTail",
          why: "the log is intact so far, but does not reach the head that was kept",
        };
      }
      const tail = kept === undefined || (!reached && !whole)
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
