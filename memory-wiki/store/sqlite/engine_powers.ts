/** The one file of memory-wiki/ that opens a database. @module */
import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../../contracts/mod.ts";
import { withFaults } from "./faults.ts";
import { pendingMigrations } from "./migrations.ts";

/** "Rwki": marks a database as ours in its header. */
const APPLICATION_ID = 0x52776b69;
/** How long a lock of another process is waited for, milliseconds. */
const BUSY_MS = 20_000;

/** Where the database lies, and whether it may be made and written. */
export interface EngineOptions {
  readonly path: string;
  readonly readOnly: boolean;
}

/** Makes the folder 0700 and the file 0600 before SQLite, which gives both the umask's modes. */
function prepareFiles(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const folder = lstatSync(dirname(path));
  if (!folder.isDirectory()) {
    throw new Fault("refused", `Cannot open wiki: its state folder is a link`);
  }
  if ((folder.mode & 0o077) !== 0) chmodSync(dirname(path), 0o700);
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file === undefined) closeSync(openSync(path, "wx", 0o600));
  else if (!file.isFile()) {
    throw new Fault("refused", `Cannot open wiki: "${path}" is not a regular file`);
  }
}

function pragma(db: DatabaseSync, name: string): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === "number" ? value : 0;
}

function migrate(db: DatabaseSync): void {
  if (pendingMigrations(pragma(db, "user_version")).length === 0) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Read again under the lock: another process may have been first.
    const id = pragma(db, "application_id");
    const tables = db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"];
    if (id !== APPLICATION_ID && !(id === 0 && tables === 0)) {
      throw new Fault("storeCorrupt", "Cannot open wiki: wiki.db is not a database of Remit's");
    }
    for (const step of pendingMigrations(pragma(db, "user_version"))) {
      db.exec(`${step.sql}; PRAGMA user_version=${step.version}`);
    }
    db.exec(`PRAGMA application_id=${APPLICATION_ID}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Whether there is a database at `path`. */
export function hasDatabase(path: string): boolean {
  return existsSync(path) && lstatSync(path).size > 0;
}

/**
 * Opens the database in WAL mode with every commit synced, made and brought to the present schema unless `readOnly`.
 * @throws Fault `storeFull`, `storeCorrupt`, `conflict`, `unavailable` (newer schema), `refused`, `notFound`.
 */
export function openEngine({ path, readOnly }: EngineOptions): DatabaseSync {
  return withFaults(`open wiki "${path}"`, () => {
    if (!readOnly) prepareFiles(path);
    else if (!existsSync(path)) {
      throw new Fault("notFound", `Cannot open wiki: it has no state here; run "remit wiki init"`);
    }
    const db = new DatabaseSync(path, { readOnly, timeout: BUSY_MS });
    try {
      // No place for temporary files is assumed: the process may write nothing but this folder.
      db.exec(
        "PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-64000; PRAGMA mmap_size=0;" +
          "PRAGMA recursive_triggers=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;" +
          "PRAGMA secure_delete=FAST",
      );
      if (readOnly) pendingMigrations(pragma(db, "user_version"));
      else {
        db.exec("PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=67108864");
        migrate(db);
      }
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}
