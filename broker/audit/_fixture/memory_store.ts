/** A store in memory whose rows a test may read, change and hold back. Hand-made, same interface. */
import { Fault } from "../../../contracts/fault.ts";
import type { Batch, BlobRow, DocumentRow, Store, StoredEvent } from "../../../contracts/store.ts";

/** The store and what it holds. */
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
    events: ({ task, afterSeq = 0, fromN = 0, kinds, limit = 1_000 }) =>
      Promise.resolve(
        store.rows.filter((row) =>
          (task === undefined || row.task === task) && row.seq > afterSeq && row.n >= fromN &&
          (kinds === undefined || kinds.includes(row.kind))
        ).slice(0, limit),
      ),
    heads: () =>
      Promise.resolve([
        ...new Map(store.rows.map(({ seq: _seq, ...row }) => [row.task, row])).values(),
      ]),
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
    documents: ({ kind, task, limit = 1_000 }) =>
      Promise.resolve(
        [...documents.values()].filter((row) =>
          row.kind === kind && (task === undefined || row.task === task)
        ).slice(0, limit),
      ),
    documentKinds: () =>
      Promise.resolve([...new Set([...documents.values()].map((row) => row.kind))]),
    close: () => Promise.resolve(),
  };
  return store;
}
