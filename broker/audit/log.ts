/** The event log over a store: chains, seals and group commit. @module */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import type { NewEvent } from "../../contracts/task/event.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import type { AdoptingLog, DocumentWrite, EventRow, Store } from "../../contracts/task/store.ts";
import { type Draft, draftEvents, openHeads } from "./_heads.ts";
import { GENESIS, hashEvent, KERNEL_CHAIN, sealMessage, sealText } from "./seal.ts";
import type { Signer } from "./signer.ts";

/** Clock, randomness and the next turn of the event loop. */
export interface LogPowers {
  /** Milliseconds since 1970. */
  now(): number;
  /** Bytes from a secure source. */
  random(length: number): Uint8Array;
  /** Runs `f` in a later turn of the event loop: `setImmediate`. */
  soon(f: () => void): void;
  /** Runs `f` after `ms` milliseconds, unless the returned function is called first. */
  after(ms: number, f: () => void): () => void;
}

/** What {@link openLog} is made from. */
export interface LogParts extends LogPowers {
  readonly store: Store;
  readonly signer: Signer;
}

/** The last event of a chain. */
export interface Head {
  readonly n: number;
  readonly hash: Digest;
}

type Entry = {
  readonly draft: Draft;
  /** Sealed events of another kernel's log, with their positions. */
  readonly adopted: readonly EventRow[];
  readonly documents: readonly DocumentWrite[];
  /** Waits for another entry's commit. */
  readonly patient: boolean;
  readonly resolve: (places: readonly Head[]) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Milliseconds that an entry of `appendWithNext` waits for another entry's commit. A commit takes
 * one or two, tens where a hundred workers share two processors: there, a commit for each entry
 * would delay all of them.
 */
const PATIENCE = 100;

/** Maximum rows of a group of several entries; a longer commit would delay the next appends. */
const MAX_ROWS = 128;

const rowsOf = ({ draft, adopted, documents }: Entry): number =>
  draft.events.length + draft.blobs.length + adopted.length + documents.length;

/** Refusals caused by one entry and not by its group. */
const OF_ONE_ENTRY: ReadonlySet<FaultCode> = new Set(["conflict", "leaseRevoked", "leaseExpired"]);

const BEFORE_FIRST: Head = Object.freeze({ n: -1, hash: GENESIS });

/**
 * Opens the log of a store. Appends that arrive while a commit runs share the next commit, and each
 * group ends with one signed seal in the `kernel` chain.
 *
 * `append` rejects with the store's faults, and with `tooLarge` for an event or a batch past the
 * limits; then nothing of that batch is written. Other batches of the group are not affected.
 * @throws Fault `storeCorrupt` when the log does not end in an intact seal of this signer.
 */
export async function openLog(parts: LogParts): Promise<AdoptingLog> {
  const { store, signer, now, random, soon, after } = parts;
  const heads = await openHeads(store, signer.publicKey);
  let queue: Entry[] = [];
  let busy = false;
  let disarm: (() => void) | undefined;

  function losePatience(): void {
    disarm = undefined;
    queue = queue.map((entry) => ({ ...entry, patient: false }));
    wake();
  }

  function wake(): void {
    if (busy || queue.length === 0) return;
    busy = true;
    soon(() => void flush());
  }

  /** Takes the first waiting entry and, in order, as many more as fit into a group. */
  function takeGroup(): readonly Entry[] {
    let [rows, end] = [0, 0];
    for (const entry of queue) {
      rows += rowsOf(entry);
      if (end > 0 && rows > MAX_ROWS) break;
      end++;
    }
    const group = end === queue.length ? queue : queue.slice(0, end);
    queue = end === queue.length ? [] : queue.slice(end);
    if (queue.length === 0) {
      disarm?.();
      disarm = undefined;
    }
    return group;
  }

  async function flush(): Promise<void> {
    const group = takeGroup();
    try {
      await commit(group);
    } catch (error) {
      // One entry's conflict must not fail the others: each is committed by itself.
      if (group.length > 1 && error instanceof Fault && OF_ONE_ENTRY.has(error.code)) {
        for (const entry of group) await commit([entry]).catch(entry.reject);
      } else for (const entry of group) entry.reject(error);
    }
    busy = false;
    if (queue.some(({ patient }) => !patient)) wake();
  }

  /** Chains, seals and stores a group. The heads in memory change only after the commit is durable. */
  async function commit(group: readonly Entry[]): Promise<void> {
    await heads.know(
      new Set(
        group.flatMap(({ draft, adopted }) =>
          [...draft.events, ...adopted].map(({ task }) => task)
        ),
      ),
    );
    const moved = new Map<string, Head>();
    const headOf = (task: string): Head => moved.get(task) ?? heads.get(task) ?? BEFORE_FIRST;
    const rows: EventRow[] = [];
    const chain = ({ task, kind, at, body }: Omit<EventRow, "n" | "hash">): Head => {
      const head = headOf(task);
      const n = head.n + 1;
      const hash = hashEvent({ prev: head.hash, task, n, kind, at, body });
      const place = { n, hash };
      rows.push({ task, kind, at, body, ...place });
      moved.set(task, place);
      return place;
    };
    const adopt = (row: EventRow): void => {
      const head = headOf(row.task);
      if (row.n !== head.n + 1 || row.hash !== hashEvent({ prev: head.hash, ...row })) {
        throw new Fault(
          "storeCorrupt",
          `Cannot take over task ${row.task}: its event ${row.n} does not follow`,
        );
      }
      rows.push({ ...row, adopted: true });
      moved.set(row.task, row);
    };
    const places = group.map(({ draft, adopted }) => {
      adopted.forEach(adopt);
      return draft.events.map(chain);
    });
    const last = rows.at(-1);
    if (last !== undefined) {
      const before = heads.kernel();
      const hashes = rows.map((row) => row.hash);
      const signature = signer.sign(sealMessage(before?.hash ?? GENESIS, hashes));
      const key = before === undefined ? { key: signer.publicKey } : {};
      const body = sealText({ hashes, signature, ...key });
      // INVARIANT: a seal's time is its last event's, so that the time is signed, too.
      chain({ task: KERNEL_CHAIN, kind: "seal", at: last.at, body });
    }
    const blobs = group.flatMap((entry) => entry.draft.blobs);
    const documents = group.flatMap((entry) => entry.documents);
    await store.commit({ events: rows, blobs, documents });
    heads.moved(moved);
    group.forEach((entry, i) => entry.resolve(places[i] ?? []));
  }

  const enqueue = (
    task: string,
    events: readonly NewEvent[],
    { documents, at, patient }: Pick<Entry, "documents" | "patient"> & { readonly at: number },
  ): Promise<readonly Head[]> =>
    new Promise((resolve, reject) => {
      const draft = draftEvents(task, events, { at, random });
      queue.push({ draft, adopted: [], documents, patient, resolve, reject });
    });

  return Object.freeze<AdoptingLog>({
    append(task, events, documents = [], at = now()) {
      const placed = enqueue(task, events, { documents, at, patient: false });
      wake();
      return placed;
    },
    appendWithNext(task, events, documents = [], at = now()) {
      const placed = enqueue(task, events, { documents, at, patient: true });
      disarm ??= after(PATIENCE, losePatience);
      return placed;
    },
    async adopt(events): Promise<void> {
      for (let from = 0; from < events.length; from += MAX_ROWS) {
        const adopted = events.slice(from, from + MAX_ROWS);
        await new Promise<readonly Head[]>((resolve, reject) => {
          const draft = { events: [], blobs: [] };
          queue.push({ draft, adopted, documents: [], patient: false, resolve, reject });
          wake();
        });
      }
    },
    head: () => heads.kernel()?.hash ?? GENESIS,
  });
}
