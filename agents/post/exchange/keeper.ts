/** The only writer of exchanges: each change is an event and its documents in one commit. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { TaskRequest } from "../../../contracts/task/task.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import type {
  Exchange,
  ExchangeEvent,
  ExchangeId,
  PeerName,
  PeerSend,
} from "../../../contracts/exchange/exchange.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import type { DocumentRow, DocumentWrite, EventLog, Store } from "../../../contracts/task/store.ts";
import {
  checkMove,
  documentsOf,
  type ExchangeChange,
  exchangeEvent,
  type ExchangeHead,
  HEAD,
  headOf,
  isOver,
  MAX_ARTIFACTS,
  MAX_MESSAGES,
  PART,
  type Part,
  partId,
  partOf,
  REQUEST,
  shownOf,
  supersededBy,
} from "./head.ts";

/** Chain of the events. */
const CHAIN = "exchanges";
/** Maximum characters of contents sent with each change during work; larger contents are read with `get`. */
const MAX_TOLD = 1_000_000;
/** Heads per read, about 5 ms. */
const PAGE = 100;

/** A change ready to be committed, possibly by others. */
export interface Prepared {
  readonly events: readonly NewEvent[];
  readonly documents: readonly DocumentWrite[];
  /** Call once the change is durable: updates memory and notifies watchers. */
  kept(): Promise<ExchangeHead>;
}

interface ExchangeKeeperParts {
  readonly store: Pick<Store, "documents" | "document" | "peek">;
  readonly log: Pick<EventLog, "append">;
  now(): number;
  /** Called after a change. */
  changed(head: ExchangeHead): void;
}

/**
 * Exchanges in memory, written through: unfinished ones and those of the last day; after
 * {@link ExchangeKeeper.all} all others.
 */
export interface ExchangeKeeper {
  readonly tally: ExchangeTally;
  /** Loads finished exchanges; only needed once a peer asks for them. */
  all(): Promise<void>;
  /** Also reads a finished exchange that was not loaded. */
  get(id: ExchangeId): ExchangeHead | undefined;
  ofTask(task: TaskId): ExchangeHead | undefined;
  /** The newest exchange whose first message has this digest. */
  begunBy(first: string): ExchangeHead | undefined;
  list(peer?: PeerName): Iterable<ExchangeHead>;
  /** Runs work on an exchange one at a time, in order of request. */
  turn<T>(id: ExchangeId, work: () => Promise<T>): Promise<T>;
  /** Throws `conflict` for a move that is not allowed. */
  prepare(change: ExchangeChange): Prepared;
  /** Prepares and commits a change together with `more`. */
  write(
    change: ExchangeChange,
    more?: Pick<Prepared, "events" | "documents">,
  ): Promise<ExchangeHead>;
  whole(head: ExchangeHead): Promise<Exchange>;
  has(id: ExchangeId, part: Part): Promise<boolean>;
  request(id: ExchangeId): Promise<TaskRequest>;
  hear(id: ExchangeId, hear: (event: ExchangeEvent) => void): () => void;
  tell(id: ExchangeId, event: ExchangeEvent): void;
  heard(id: ExchangeId): boolean;
  erase(id: ExchangeId): Promise<void>;
}

/** Opens the exchanges stored by earlier kernels. @throws Fault `storeCorrupt` */
export async function openExchangeKeeper(parts: ExchangeKeeperParts): Promise<ExchangeKeeper> {
  const { store, log } = parts;
  const heads = new Map<ExchangeId, ExchangeHead>();
  const versions = new Map<string, number>();
  const peers = new Map<PeerName, Set<ExchangeId>>();
  const tasks = new Map<TaskId, ExchangeId>();
  const firsts = new Map<string, ExchangeId>();
  const turns = new Map<ExchangeId, Promise<unknown>>();
  const hearing = new Map<ExchangeId, Set<(event: ExchangeEvent) => void>>();
  const tally = makeExchangeTally(parts);

  const index = (head: ExchangeHead, before: ExchangeHead | undefined): void => {
    heads.set(head.id, head);
    if (head.task !== undefined) tasks.set(head.task, head.id);
    if (before !== undefined) return tally.moved(head.peer, { from: before.state, to: head.state });
    // Keep the newest exchange with this first message.
    const other = head.first === undefined
      ? undefined
      : heads.get(firsts.get(head.first) ?? head.id);
    if (head.first !== undefined && (other?.createdAt ?? 0) <= head.createdAt) {
      firsts.set(head.first, head.id);
    }
    const mine = peers.get(head.peer) ?? new Set();
    peers.set(head.peer, mine.add(head.id));
    tally.add(head);
  };

  const know = (row: DocumentRow | undefined): ExchangeHead | undefined => {
    const head = row === undefined ? undefined : headOf(row);
    if (row === undefined || head === undefined) return undefined;
    const have = heads.get(head.id);
    if (have !== undefined) return have;
    versions.set(row.id, row.version);
    index(head, undefined);
    return head;
  };
  /** Loads finished exchanges, newest first, page by page, until `enough`. */
  const load = async (enough: (head: ExchangeHead | undefined) => boolean): Promise<void> => {
    let before: string | undefined;
    for (;;) {
      const page = await store.documents({
        ...{ kind: HEAD, states: ["over"], newest: true, limit: PAGE, before },
      });
      const known = page.map(know);
      before = page.at(-1)?.id;
      if (page.length < PAGE || enough(known.findLast((head) => head !== undefined))) return;
    }
  };

  for (const row of await store.documents({ kind: HEAD, states: [""], limit: 1_000_000 })) {
    know(row);
  }
  const since = parts.now() - DAY_MS;
  await load((head) => head !== undefined && head.createdAt <= since);
  let loading: Promise<void> | undefined;

  const whole = async (head: ExchangeHead): Promise<Exchange> => {
    const rows = await store.documents({
      ...{ kind: PART, task: head.id, limit: 2 * (MAX_MESSAGES + MAX_ARTIFACTS) },
    });
    return shownOf(head, rows.flatMap((row) => partOf(row) ?? []));
  };

  const known = (id: ExchangeId | undefined): ExchangeHead | undefined =>
    id === undefined ? undefined : heads.get(id);

  const tell: ExchangeKeeper["tell"] = (id, event) => {
    for (const hear of [...hearing.get(id) ?? []]) hear(event);
  };

  const prepare = (change: ExchangeChange): Prepared => {
    const { before, quiet = false } = change;
    // In a final state the status is fixed: only artifacts and push configurations may still change.
    const speaks = before?.state !== change.next.state ||
      before.status?.id !== change.next.status?.id;
    if (before !== undefined && speaks) checkMove(before.id, before.state, change.next.state);
    const parts_ = [...supersededBy(change), ...change.parts ?? []];
    const messages = parts_.filter(({ kind }) => kind === "message").length;
    const head: ExchangeHead = {
      ...change.next,
      version: (before?.version ?? 0) + (quiet ? 0 : 1),
      updatedAt: quiet ? change.next.updatedAt : parts.now(),
      messages: change.next.messages + messages,
      artifacts: change.next.artifacts + parts_.length - messages,
    };
    return {
      events: quiet ? [] : [exchangeEvent(change, head)],
      documents: documentsOf({ ...change, next: head, parts: parts_ }, versions.get(head.id) ?? 0),
      async kept(): Promise<ExchangeHead> {
        versions.set(head.id, (versions.get(head.id) ?? 0) + 1);
        index(head, before);
        if (quiet) return head;
        parts.changed(head);
        if (!hearing.has(head.id)) return head;
        for (const part of change.parts ?? []) {
          if (part.kind !== "artifact") continue;
          const { artifact } = part;
          tell(head.id, {
            ...{ kind: "artifact", version: head.version, artifact, append: false, last: true },
          });
        }
        const { theirs, ours } = head.bytes;
        const slim = head.state === "working" && theirs + ours > MAX_TOLD;
        const exchange = slim ? shownOf(head, []) : await whole(head);
        tell(head.id, { kind: "state", version: head.version, exchange });
        return head;
      },
    };
  };

  return Object.freeze<ExchangeKeeper>({
    ...{ tally, whole, tell, prepare },
    all: () =>
      loading ??= load(() => false).catch((error: unknown) => {
        loading = undefined;
        throw error;
      }),
    get: (id) => heads.get(id) ?? know(store.peek(HEAD, id)),
    ofTask: (task) => known(tasks.get(task)),
    begunBy: (first) => known(firsts.get(first)),
    *list(peer) {
      if (peer === undefined) return yield* heads.values();
      for (const id of peers.get(peer) ?? []) {
        const head = heads.get(id);
        if (head !== undefined) yield head;
      }
    },
    async turn<T>(id: ExchangeId, work: () => Promise<T>): Promise<T> {
      const before = turns.get(id) ?? Promise.resolve();
      const mine = before.then(work, work);
      turns.set(id, mine);
      try {
        return await mine;
      } finally {
        if (turns.get(id) === mine) turns.delete(id);
      }
    },
    async write(change, more): Promise<ExchangeHead> {
      const { events, documents, kept } = prepare(change);
      await log.append(
        CHAIN,
        [...events, ...more?.events ?? []],
        [...documents, ...more?.documents ?? []],
      );
      return await kept();
    },
    has: async (id, part) => await store.document(PART, partId(id, part)) !== undefined,
    async request(id): Promise<TaskRequest> {
      const row = await store.document(REQUEST, id);
      const found = TaskRequest.safeParse(row?.body["request"]);
      if (found.success) return found.data;
      throw new Fault("storeCorrupt", `Cannot read exchange ${id}: its request does not parse`);
    },
    hear(id, hear): () => void {
      const set = hearing.get(id) ?? new Set();
      hearing.set(id, set.add(hear));
      return () => {
        set.delete(hear);
        if (set.size === 0 && hearing.get(id) === set) hearing.delete(id);
      };
    },
    heard: (id) => hearing.has(id),
    async erase(id): Promise<void> {
      const head = heads.get(id) ?? know(store.peek(HEAD, id));
      if (head === undefined) return;
      const rows = await Promise.all(
        [PART, REQUEST].map((kind) => store.documents({ kind, task: id, limit: 10_000 })),
      );
      // Documents are never deleted, only emptied.
      const blank = rows.flat().map(({ kind, id, task, version }): DocumentWrite => ({
        ...{ kind, id, task, expect: version, body: {} },
      }));
      const stub: DocumentWrite = {
        ...{ kind: HEAD, id, task: id, expect: versions.get(id) ?? 0, body: { erased: true } },
      };
      const body = { exchange: id, erased: blank.length };
      await log.append(CHAIN, [{ kind: "exchange", body }], [stub, ...blank]);
      versions.set(id, (versions.get(id) ?? 0) + 1);
      heads.delete(id);
      peers.get(head.peer)?.delete(id);
      if (head.task !== undefined) tasks.delete(head.task);
      if (head.first !== undefined && firsts.get(head.first) === id) firsts.delete(head.first);
    },
  });
}

/** The period of the daily limit. */
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Counts of exchanges by peer. */
interface ExchangeTally {
  /** Counts an exchange, new or loaded. */
  add(exchange: Pick<Exchange, "peer" | "state" | "createdAt">): void;
  moved(
    peer: PeerName,
    change: { readonly from: Exchange["state"]; readonly to: Exchange["state"] },
  ): void;
  /** Reserves room for one more exchange. Throws `rateLimited`. The returned function ends the reservation. */
  reserve(peer: PeerName, most: PeerSend["most"]): () => void;
}

interface Count {
  open: number;
  reserved: number;
  /** Creation times of the last day's exchanges, ascending. */
  days: number[];
}

/** Empty counts. */
function makeExchangeTally({ now }: { now(): number }): ExchangeTally {
  const counts = new Map<PeerName, Count>();
  const countOf = (peer: PeerName): Count => {
    const count = counts.get(peer) ?? { open: 0, reserved: 0, days: [] };
    counts.set(peer, count);
    return count;
  };
  return Object.freeze<ExchangeTally>({
    add({ peer, state, createdAt }): void {
      const count = countOf(peer);
      if (!isOver(state)) count.open += 1;
      if (createdAt <= now() - DAY_MS) return;
      // Loaded exchanges come in any order.
      const place = count.days.findLastIndex((at) => at <= createdAt);
      count.days.splice(place + 1, 0, createdAt);
    },
    moved(peer, { from, to }): void {
      if (!isOver(from) && isOver(to)) countOf(peer).open -= 1;
    },
    reserve(peer, most): () => void {
      const count = countOf(peer);
      const since = now() - DAY_MS;
      const fresh = count.days.findIndex((at) => at > since);
      count.days.splice(0, fresh === -1 ? count.days.length : fresh);
      if (count.open + count.reserved >= most.open) {
        throw new Fault(
          "rateLimited",
          `Cannot begin: ${most.open} exchanges are under way; wait until one ends`,
        );
      }
      if (count.days.length + count.reserved >= most.perDay) {
        throw new Fault("rateLimited", `Cannot begin: ${most.perDay} exchanges a day are all`);
      }
      count.reserved += 1;
      let held = true;
      return () => {
        if (held) count.reserved -= 1;
        held = false;
      };
    },
  });
}
