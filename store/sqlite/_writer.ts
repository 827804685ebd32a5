/** Writes batches, each in one transaction, and checkpoints. Used by store.ts. @module */
import type { DatabaseSync } from "node:sqlite";
import { Fault } from "../../contracts/base/fault.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import type { Batch, DocumentWrite } from "../../contracts/task/store.ts";
import { writeHex } from "../../port/hex.ts";
import { withFaults } from "./_faults.ts";
import { packBody } from "./_pack.ts";

/**
 * Estimated pages of WAL between two checkpoints. Few, because a WAL that is overwritten from its
 * start syncs in half the time of one that grows.
 */
const CHECKPOINT_EVERY = 1_000;
/** Pages that every commit changes, and bytes of rows and content for one more page. */
const [PAGES_A_COMMIT, PAGE] = [3, 4_096];
/** Bytes of a row beside its body. */
const ROW_BYTES = 100;

/** Writes batches and erases blobs. Synchronous; the change is durable on return. */
export interface Writer {
  commit(batch: Batch): void;
  eraseBlobs(task: string): number;
}

/** The only owner of a database's write statements. */
export function makeWriter(db: DatabaseSync): Writer {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const end = db.prepare("COMMIT");
  const undo = db.prepare("ROLLBACK");
  const event = db.prepare(
    "INSERT INTO events(seq, task, n, kind, at, hash, body) VALUES(?,?,?,?,?,?,?)",
  );
  const blob = db.prepare(
    "INSERT INTO blobs(digest, task, salt, bytes) VALUES(?,?,?,?) ON CONFLICT(task, digest) DO NOTHING",
  );
  const insert = db.prepare(
    "INSERT INTO documents(kind, id, task, version, body) VALUES(?,?,?,1,?)",
  );
  const update = db.prepare(
    "UPDATE documents SET task=?, version=version+1, body=? WHERE kind=? AND id=? AND version=?",
  );
  const erase = db.prepare(
    "DELETE FROM blobs WHERE task = (SELECT id FROM names WHERE name = ?)",
  );
  const names = makeNames(db);
  // INVARIANT: rows are numbered here, so that a second writer of the same file conflicts at its
  // first commit. (test: two writers of one file)
  let lastSeq = Number(db.prepare("SELECT max(seq) AS seq FROM events").get()?.["seq"] ?? 0);
  let work = 0;
  // A statement copies its values before it returns, so one array serves every digest.
  const scratch = new Uint8Array(32);

  /** The bytes of a digest, valid until the next call. */
  function raw(digest: Digest): Uint8Array {
    if (digest.length !== 64) throw new TypeError("Cannot write to the log: a digest is 32 bytes");
    writeHex(digest, scratch);
    return scratch;
  }

  /** One transaction. SQLite rolls back some failures itself (a full disk), so its state is checked before a rollback. */
  function transaction<T>(f: () => T): T {
    begin.run();
    try {
      const value = f();
      end.run();
      return value;
    } catch (error) {
      if (db.isTransaction) undo.run();
      names.forget();
      throw error;
    }
  }

  function writeDocument({ kind, id, task, expect, body }: DocumentWrite): void {
    const text = JSON.stringify(body);
    if (expect === 0) insert.run(kind, id, task, text);
    else if (Number(update.run(task, text, kind, id, expect).changes) !== 1) {
      throw new Fault(
        "conflict",
        `Cannot write ${kind} "${id}": its version is not ${expect} any more`,
      );
    }
  }

  /** Moves the WAL into the main file. An obstacle (a reader, a full disk) may pass. */
  function checkpoint(mode: "PASSIVE" | "TRUNCATE"): void {
    work = 0;
    try {
      db.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch (_error) {
      // The WAL contains every commit: the next checkpoint tries again, and a permanent fault
      // appears in the next commit or read.
    }
  }

  return Object.freeze({
    commit({ events, blobs, documents }: Batch): void {
      let bytes = 0;
      withFaults("write to the log", "write", () =>
        transaction(() => {
          let seq = lastSeq;
          for (const e of events) {
            const [task, kind] = [names.provide(e.task), names.provide(e.kind)];
            const body = packBody(e.body);
            event.run(++seq, task, e.n, kind, e.at, raw(e.hash), body);
            bytes += ROW_BYTES + body.length;
          }
          for (const b of blobs) {
            bytes += ROW_BYTES + b.bytes.length;
            blob.run(raw(b.digest), names.provide(b.task), b.salt, b.bytes);
          }
          for (const d of documents) writeDocument(d);
        }));
      lastSeq += events.length;
      work += PAGES_A_COMMIT + bytes / PAGE;
      if (work >= CHECKPOINT_EVERY) checkpoint("PASSIVE");
    },
    eraseBlobs(task: string): number {
      const gone = withFaults(
        "erase content",
        "write",
        () => transaction(() => Number(erase.run(task).changes)),
      );
      // The WAL contains the erased bytes until it is truncated.
      if (gone > 0) checkpoint("TRUNCATE");
      return gone;
    },
  });
}

/** Names kept in memory; above them the oldest is dropped. */
const MAX_KNOWN = 10_000;

/** The writer's side of the table `names`. */
interface Names {
  /** A name's number, assigned now where it has none. Within a transaction. */
  provide(name: string): number;
  /** Forgets new numbers: the transaction that assigned them was rolled back. */
  forget(): void;
}

function makeNames(db: DatabaseSync): Names {
  const find = db.prepare("SELECT id FROM names WHERE name = ?");
  const add = db.prepare("INSERT INTO names(name) VALUES(?)");
  const known = new Map<string, number>();
  return Object.freeze({
    provide(name: string): number {
      const have = known.get(name);
      if (have !== undefined) return have;
      const found = find.get(name)?.["id"];
      const id = typeof found === "number" ? found : Number(add.run(name).lastInsertRowid);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(name, id);
      return id;
    },
    forget: () => known.clear(),
  });
}
