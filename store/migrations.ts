/**
 * The embedded engine's schema as a numbered list of steps, from the first version. A released step
 * is never changed: a new one is added.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";

/** One step of the schema, applied in a separate transaction. */
export interface Migration {
  /** From 1, without gaps. */
  readonly version: number;
  /** The step's purpose, in a few words. */
  readonly name: string;
  /** SQL statements, `;` between them. */
  readonly sql: string;
}

/**
 * The steps of the SQLite schema, oldest first.
 *
 * Rows are small because a log lives long and a commit's cost is in pages: tasks and kinds are
 * numbers of `names`, bodies are packed (sqlite/_pack.ts), and the kernel's own chain, a third of
 * all rows, is not in the index of chains: `seq` is its order.
 */
export const SQLITE_MIGRATIONS: readonly Migration[] = Object.freeze([
  Object.freeze({
    version: 1,
    name: "events, blobs, documents",
    sql: `
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX names_name ON names(name);
INSERT INTO names(id, name) VALUES(1, 'kernel');
CREATE TABLE events(
  seq INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  n INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  at INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK(length(hash) = 32),
  body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_chain ON events(task, n) WHERE task <> 1;
CREATE TRIGGER events_no_update BEFORE UPDATE ON events
  BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
  BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TABLE blobs(
  digest BLOB NOT NULL CHECK(length(digest) = 32),
  task INTEGER NOT NULL,
  salt BLOB NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX blobs_digest ON blobs(digest);
CREATE TABLE documents(
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  task TEXT NOT NULL,
  version INTEGER NOT NULL CHECK(version > 0),
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX documents_id ON documents(kind, id);
CREATE INDEX documents_task ON documents(kind, task);
`,
  }),
  Object.freeze({
    version: 2,
    name: "content by task",
    // Digests are salted, so each would touch a different page; by task, a task's content is
    // together. The new index takes the old one's pages, so that a nearly full state opens, too.
    sql: `
DROP INDEX blobs_digest;
CREATE UNIQUE INDEX blobs_task ON blobs(task, digest);
`,
  }),
  Object.freeze({
    version: 3,
    name: "documents by how they stand",
    // Finds unfinished documents without a read of all. The column is computed, so that no writer
    // can forget it; a body that is no longer JSON is still found by its kind.
    sql: `
ALTER TABLE documents ADD COLUMN state TEXT GENERATED ALWAYS AS (
  CASE WHEN NOT json_valid(body) THEN ''
    WHEN kind = 'task' AND json_extract(body, '$.archived') THEN 'archived'
    WHEN kind = 'task' THEN coalesce(json_extract(body, '$.status'), '')
    WHEN kind = 'question' THEN coalesce(json_extract(body, '$.question.state'), '')
    ELSE '' END) VIRTUAL;
CREATE INDEX documents_state ON documents(kind, state);
`,
  }),
  Object.freeze({
    version: 4,
    name: "exchanges by how they stand",
    // An exchange is over when it is final and no push is due.
    sql: `
DROP INDEX documents_state;
ALTER TABLE documents DROP COLUMN state;
ALTER TABLE documents ADD COLUMN state TEXT GENERATED ALWAYS AS (
  CASE WHEN NOT json_valid(body) THEN ''
    WHEN kind = 'task' AND json_extract(body, '$.archived') THEN 'archived'
    WHEN kind = 'task' THEN coalesce(json_extract(body, '$.status'), '')
    WHEN kind = 'question' THEN coalesce(json_extract(body, '$.question.state'), '')
    WHEN kind = 'exchange' AND json_extract(body, '$.erased') THEN 'over'
    WHEN kind = 'exchange' AND coalesce(json_array_length(body, '$.pushes'), 0) = 0
      AND coalesce(json_extract(body, '$.state'), '')
        IN ('completed', 'failed', 'canceled', 'rejected') THEN 'over'
    ELSE '' END) VIRTUAL;
CREATE INDEX documents_state ON documents(kind, state);
`,
  }),
]);

/**
 * The remaining steps of a database at version `current` (0: empty), oldest first.
 * @throws Fault `unavailable` where the database is newer than this list.
 */
export function pendingMigrations(
  current: number,
  list: readonly Migration[] = SQLITE_MIGRATIONS,
): readonly Migration[] {
  const latest = list.at(-1)?.version ?? 0;
  if (current > latest) {
    throw new Fault(
      "unavailable",
      `Cannot open store: its schema is version ${current}, this Remit knows ${latest}; use a newer Remit`,
    );
  }
  return list.filter((step) => step.version > current);
}
