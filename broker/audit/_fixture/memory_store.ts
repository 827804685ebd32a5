/** A store in memory whose rows a test may read, change and hold back. Hand-made, same interface. */
import { Fault } from "../../../contracts/base/fault.ts";
import type {
  Batch,
  BlobRow,
  DocumentQuery,
  DocumentRow,
  Store,
  StoredEvent,
} from "../../../contracts/task/store.ts";

/** The store and its contents. */
export interface MemoryStore extends Store {
  rows: StoredEvent[];
  blobs: Map<string, BlobRow>;
  /** Sizes, in events, of the commits so far. */
  readonly groups: number[];
  /** Runs before each commit: may throw, or wait. */
  before: (batch: Batch) => Promise<void> | void;
  documentKinds(): Promise<readonly string[]>;
}

/** An empty store. */
export function makeMemoryStore(): MemoryStore {
  const documents = new Map<string, DocumentRow>();
  const idOf = (kind: string, id: string): string => `${kind}\n${id}`;
  const conflict = (): never => {
    throw new Fault("conflict", "Cannot write to the log: another writer was first");
  };
  const store: MemoryStore = {
    rows: [],
    blobs: new Map(),
    groups: [],
    before: () => {},
    async commit(batch: Batch): Promise<void> {
      await store.before(batch);
      const taken = new Set(store.rows.map((row) => `${row.task} ${row.n}`));
      for (const { task, n } of batch.events) {
        if (taken.has(`${task} ${n}`)) conflict();
        taken.add(`${task} ${n}`);
      }
      const written = new Map(documents);
      for (const { kind, id, task, expect, body } of batch.documents) {
        if ((written.get(idOf(kind, id))?.version ?? 0) !== expect) conflict();
        written.set(idOf(kind, id), { kind, id, task, version: expect + 1, body });
      }
      for (const event of batch.events) store.rows.push({ ...event, seq: store.rows.length + 1 });
      for (const blob of batch.blobs) store.blobs.set(blob.digest, blob);
      for (const [key, row] of written) documents.set(key, row);
      store.groups.push(batch.events.length);
    },
    events: (
      { task, afterSeq = 0, untilSeq = Infinity, newest, fromN = 0, kinds, limit = 1_000 },
    ) => {
      const found = store.rows.filter((row) =>
        (task === undefined || row.task === task) && row.seq > afterSeq && row.seq <= untilSeq &&
        row.n >= fromN && (kinds === undefined || kinds.includes(row.kind))
      );
      return Promise.resolve((newest === true ? found.toReversed() : found).slice(0, limit));
    },
    head: (task) => Promise.resolve(store.rows.findLast((row) => row.task === task)),
    heads({ after, untilSeq = Infinity, limit } = {}) {
      const rows = store.rows.filter(({ seq }) => seq <= untilSeq);
      const all = [...new Map(rows.map(({ seq: _seq, ...row }) => [row.task, row])).values()];
      const from = after === undefined ? 0 : all.findIndex(({ task }) => task === after) + 1;
      return Promise.resolve(all.slice(from).slice(0, limit));
    },
    blob(task, digest) {
      const kept = store.blobs.get(digest);
      return Promise.resolve(kept?.task === task ? kept : undefined);
    },
    eraseBlobs(task: string): Promise<number> {
      const gone = [...store.blobs.values()].filter((blob) => blob.task === task);
      for (const { digest } of gone) store.blobs.delete(digest);
      return Promise.resolve(gone.length);
    },
    document: (kind, id) => Promise.resolve(documents.get(idOf(kind, id))),
    peek: (kind, id) => documents.get(idOf(kind, id)),
    documents: (query) => Promise.resolve(documentsIn([...documents.values()], query)),
    documentKinds: () =>
      Promise.resolve([...new Set([...documents.values()].map((row) => row.kind))]),
    close: () => Promise.resolve(),
  };
  return store;
}

function stateOf({ kind, body }: DocumentRow): string {
  const question = body["question"] as { readonly state?: string } | undefined;
  if (kind === "question") return question?.state ?? "";
  if (kind !== "task") return "";
  return body["archived"] === true ? "archived" : String(body["status"] ?? "");
}

/** The answer of a store to a query over all events in the order in which they were made. */
function documentsIn(
  all: readonly DocumentRow[],
  { kind, task, states, prefix = "", after, before, newest, limit = 1_000 }: DocumentQuery,
): readonly DocumentRow[] {
  const placeOf = (id: string | undefined): number =>
    all.findIndex((row) => row.kind === kind && row.id === id);
  const from = after === undefined ? -1 : placeOf(after) === -1 ? all.length : placeOf(after);
  const to = before === undefined ? all.length : placeOf(before);
  const found = all.filter((row, place) =>
    row.kind === kind && (task === undefined || row.task === task) && row.id.startsWith(prefix) &&
    (states === undefined || states.includes(stateOf(row))) && place > from && place < to
  );
  return (newest === true ? found.toReversed() : found).slice(0, limit);
}
