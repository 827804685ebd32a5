/** The kernel's client of its store process: the store's contract over a port. @module */
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import { isObject, toJson } from "../../contracts/base/json.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Port } from "../../contracts/base/port.ts";
import type {
  Batch,
  DocumentQuery,
  DocumentRow,
  EventRow,
  Store,
  StoredEvent,
} from "../../contracts/task/store.ts";
import type { FleetAsk, StoreOpen } from "../../contracts/wire/wire_store.ts";
import { damagedRow, DEFAULT_LIMIT, type Row } from "../_rows.ts";
import { documentOf, eventOf } from "./_rows.ts";

/** A store in a separate process. */
export interface RemoteStore extends Store {
  documentKinds(): Promise<readonly string[]>;
  /** Sends a request to the fleet's table. */
  fleet(ask: FleetAsk): Promise<Json>;
  /** Events of any kernel's log, for a check. */
  logOf(id: number): Pick<Store, "events" | "heads">;
  /** A task's events by all kernels, from place `fromN`. */
  chain(task: string, fromN: number): Promise<readonly StoredEvent[]>;
  /** Events about money of all tasks since a time, by task, after place `after`; none at the end. */
  spent(
    since: number,
    after: { readonly task: string; readonly n: number },
  ): Promise<readonly StoredEvent[]>;
  /** Makes the documents of a task that was taken over known to `peek`. */
  learn(task: string): Promise<void>;
}

/** Kinds of document that a kernel must read synchronously: they are kept here, as texts. */
const PEEKED = ["task", "exchange"] as const;
/** Documents of one read. */
const PAGE_ROWS = 500;

/**
 * Opens a store over the port of its process.
 * @throws Fault the process's; `gone` where it has ended
 */
export async function openRemoteStore(port: Port, options: StoreOpen): Promise<RemoteStore> {
  await port.ask("open", toJson(options));
  const kept = new Map<string, string>();
  const key = (kind: string, id: string): string => `${kind} ${id}`;
  const isPeeked = (kind: string): boolean => PEEKED.some((each) => each === kind);
  const keep = ({ kind, id, task, version, body }: DocumentRow): void =>
    void kept.set(key(kind, id), JSON.stringify([task, version, JSON.stringify(body)]));

  const documents = (query: DocumentQuery): Promise<readonly DocumentRow[]> =>
    paged({
      limit: query.limit ?? DEFAULT_LIMIT,
      read: documentOf,
      ask: (after, limit) =>
        port.ask(
          "documents",
          toJson({
            ...query,
            limit,
            ...(after === undefined
              ? {}
              : query.newest === true
              ? { before: after.id }
              : { after: after.id }),
          }),
        ),
    });
  const learnAll = async (query: Omit<DocumentQuery, "limit">): Promise<void> => {
    let rows = await documents({ ...query, limit: PAGE_ROWS });
    rows.forEach(keep);
    while (rows.length === PAGE_ROWS) {
      rows = await documents({ ...query, limit: PAGE_ROWS, after: rows.at(-1)?.id });
      rows.forEach(keep);
    }
  };
  for (const kind of PEEKED) await learnAll({ kind });

  return Object.freeze<RemoteStore>({
    ...logReader((query) => port.ask("events", query), (query) => port.ask("heads", query)),
    async commit(batch): Promise<void> {
      await port.ask("commit", batchJson(batch));
      for (const { kind, id, task, expect, body } of batch.documents) {
        if (isPeeked(kind)) keep({ kind, id, task, version: expect + 1, body });
      }
    },
    async head(task): Promise<EventRow | undefined> {
      const [row] = pageOf(await port.ask("events", { task, newest: true, limit: 1 })).rows;
      return row === undefined ? undefined : eventOf(row);
    },
    async blob(task, digest) {
      const found = await port.ask("blob", { task, digest });
      if (!isObject(found)) return undefined;
      const { salt, bytes } = found;
      if (typeof salt !== "string" || typeof bytes !== "string") throw damagedRow("content");
      return Object.freeze({
        salt: Uint8Array.fromBase64(salt),
        bytes: Uint8Array.fromBase64(bytes),
      });
    },
    eraseBlobs: async (task) => Number(await port.ask("erase", { task })),
    async document(kind, id): Promise<DocumentRow | undefined> {
      const row = await port.ask("document", { kind, id });
      return isObject(row) ? documentOf(row) : undefined;
    },
    peek(kind, id): DocumentRow | undefined {
      if (!isPeeked(kind)) throw new TypeError(`Cannot look at a ${kind}: it is not kept here`);
      const text = kept.get(key(kind, id));
      if (text === undefined) return undefined;
      const [task, version, body] = JSON.parse(text);
      return documentOf({ kind, id, task, version, body });
    },
    documents,
    async documentKinds(): Promise<readonly string[]> {
      const kinds = await port.ask("kinds", null);
      return Array.isArray(kinds) ? kinds.map(String) : [];
    },
    fleet: (ask) => port.ask("fleet", toJson(ask)),
    logOf: (id) =>
      logReader(
        (query) => port.ask("fleet", { kind: "log", id, query }),
        (query) => port.ask("fleet", { kind: "headsOf", id, query }),
      ),
    async chain(task, fromN): Promise<readonly StoredEvent[]> {
      return pageOf(await port.ask("fleet", { kind: "chain", task, fromN })).rows.map(eventOf);
    },
    async spent(since, after): Promise<readonly StoredEvent[]> {
      return pageOf(await port.ask("fleet", { kind: "spent", since, after })).rows.map(eventOf);
    },
    async learn(task): Promise<void> {
      for (const kind of PEEKED) await learnAll({ kind, task });
    },
    close(): Promise<void> {
      port.close("the store is closed");
      return Promise.resolve();
    },
  });
}

type Ask = (query: JsonObject) => Promise<Json>;

/** Reads a log by pages. */
function logReader(events: Ask, heads: Ask): Pick<Store, "events" | "heads"> {
  return {
    events: (query) =>
      paged({
        limit: query.limit ?? DEFAULT_LIMIT,
        read: eventOf,
        ask: (after, limit) =>
          events(asObject({
            ...query,
            limit,
            ...(after === undefined
              ? {}
              : query.newest === true
              ? { untilSeq: after.seq - 1 }
              : { afterSeq: after.seq }),
          })),
      }),
    heads: (query = {}) =>
      paged<StoredEvent>({
        limit: query.limit ?? Infinity,
        read: eventOf,
        ask: (after, limit) =>
          heads(asObject({
            ...query,
            ...(limit === Infinity ? {} : { limit }),
            ...(after === undefined ? {} : { after: after.task }),
          })),
      }),
  };
}

function asObject(value: object): JsonObject {
  const json = toJson(value);
  return isObject(json) ? json : {};
}

/** Requests pages until none is cut: a frame has a limit. */
async function paged<T>(
  { limit, read, ask }: {
    readonly limit: number;
    read(row: Row): T;
    ask(after: T | undefined, limit: number): Promise<Json>;
  },
): Promise<readonly T[]> {
  const found: T[] = [];
  for (;;) {
    const { rows, cut } = pageOf(await ask(found.at(-1), limit - found.length));
    found.push(...rows.map(read));
    if (!cut || rows.length === 0) return found;
  }
}

/** TRUST: from the store process, which runs third-party code. */
function pageOf(answer: Json): { readonly rows: readonly Row[]; readonly cut: boolean } {
  const rows = isObject(answer) ? answer["rows"] : undefined;
  if (!isObject(answer) || !Array.isArray(rows)) {
    throw new Fault("storeCorrupt", "Cannot use the store's answer: it is no page");
  }
  return { rows: rows.map((row: Json) => isObject(row) ? row : {}), cut: answer["cut"] === true };
}

function batchJson({ events, blobs, documents }: Batch): Json {
  return toJson({
    events,
    blobs: blobs.map(({ task, digest, salt, bytes }) => ({
      ...{ task, digest, salt: salt.toBase64(), bytes: bytes.toBase64() },
    })),
    documents: documents.map(({ kind, id, task, expect, body }) => ({
      ...{ kind, id, task, expect, body: JSON.stringify(body) },
    })),
  });
}
