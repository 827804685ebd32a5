/** The embedded engine of the store's contract. @module */
import type { DatabaseSync } from "node:sqlite";
import type { Digest } from "../../contracts/ids.ts";
import type { Batch, Store } from "../../contracts/store.ts";
import { type EngineOptions, openEngine } from "./_engine_powers.ts";
import { makeReader } from "./_reader.ts";
import { withFaults } from "./_faults.ts";
import { makeWriter, type Writer } from "./_writer.ts";

/** A store on one SQLite file. */
export interface SqliteStore extends Store {
  /** The kinds of document there are, for copying all of them. */
  documentKinds(): Promise<readonly string[]>;
}

/**
 * Opens the store at `path` (its folder is made 0700, its files 0600), in WAL mode with every
 * commit synced. With `readOnly` nothing is made, changed or checkpointed.
 * @throws Fault `storeFull`, `storeCorrupt`, `conflict`, `unavailable` for a newer schema, and
 * `refused` for a folder that other users can enter.
 */
export function openSqliteStore(options: EngineOptions): SqliteStore {
  const db = openEngine(options);
  const reader = makeReader(db);
  // A reader may have to read what a damaged file still gives: it makes no other demands on it.
  let writer = options.readOnly === true ? undefined : openWriter(db, options.path);
  const write = (): Writer => writer ??= openWriter(db, options.path);
  // Methods are async so that SQLite's synchronous throw becomes the contract's rejection.
  return Object.freeze(
    {
      commit: async (batch: Batch) => await write().commit(batch),
      events: async (query) => await reader.events(query),
      heads: async (query) => await reader.heads(query),
      head: async (task: string) => await reader.head(task),
      blob: async (task: string, digest: Digest) => await reader.blob(task, digest),
      eraseBlobs: async (task: string) => await write().eraseBlobs(task),
      document: async (kind: string, id: string) => await reader.document(kind, id),
      peek: (kind: string, id: string) => reader.document(kind, id),
      documents: async (query) => await reader.documents(query),
      documentKinds: async () => await reader.documentKinds(),
      close: async () => await db.close(),
    } satisfies SqliteStore,
  );
}

/** Prepares the write statements, which a damaged schema refuses. */
function openWriter(db: DatabaseSync, path: string): Writer {
  try {
    return withFaults(`open store "${path}"`, "write", () => makeWriter(db));
  } catch (error) {
    db.close();
    throw error;
  }
}
