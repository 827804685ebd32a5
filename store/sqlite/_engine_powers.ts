/**
 * The only file that opens a database. `node:sqlite` is authority over a path, so no other file here imports its constructor.
 * Used by contents_powers.ts and store.ts.
 * @module
 */
import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../contracts/base/fault.ts";
import { pendingMigrations } from "../migrations.ts";
import { withFaults } from "./_faults.ts";

/** "Remt": marks a database as Remit's in its header. */
const APPLICATION_ID = 0x52656d74;
/** Milliseconds to wait for another process's lock. */
const BUSY_MS = 1_000;

/** A database's path and access. */
export interface EngineOptions {
  readonly path: string;
  readonly readOnly?: boolean;
  /** Most 4 KB pages of the database; a commit above them is `storeFull`. */
  readonly maxPages?: number;
}

/** Makes the folder 0700 and the file 0600 before SQLite would, with the umask's modes. */
export function prepareFiles(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if ((lstatSync(dirname(path)).mode & 0o077) !== 0) {
    throw new Fault(
      "refused",
      `Cannot open store "${path}": its folder is open to other users; set mode 0700`,
    );
  }
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file === undefined) closeSync(openSync(path, "wx", 0o600));
  else if (!file.isFile()) {
    throw new Fault("refused", `Cannot open store "${path}": not a regular file`);
  } else if ((file.mode & 0o177) !== 0) chmodSync(path, 0o600);
}

function pragma(db: DatabaseSync, name: string): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === "number" ? value : 0;
}

/** Refuses another program's database, or a newer Remit's, before any change. */
function checkOurs(db: DatabaseSync): void {
  const id = pragma(db, "application_id");
  const tables = db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"];
  if (id !== APPLICATION_ID && !(id === 0 && tables === 0)) {
    throw new Fault("storeCorrupt", "Cannot open store: the file is not a store of Remit");
  }
  pendingMigrations(pragma(db, "user_version"));
}

function migrate(db: DatabaseSync): void {
  if (pendingMigrations(pragma(db, "user_version")).length === 0) return;
  db.exec("BEGIN IMMEDIATE");
  // Checked again under the lock: another process may have migrated during the wait, and SQLite may have cached the tables.
  db.prepare("SELECT count(*) AS n FROM sqlite_schema").get();
  for (const step of pendingMigrations(pragma(db, "user_version"))) {
    db.exec(
      `${step.sql}; PRAGMA user_version=${step.version}; PRAGMA application_id=${APPLICATION_ID}`,
    );
  }
  db.exec("COMMIT");
}

/**
 * Opens the database; creates and migrates it, unless `readOnly`.
 * @throws Fault `storeFull`, `storeCorrupt`, `conflict`, `unavailable` (newer schema), `refused`,
 * `notFound` (read-only and absent).
 */
export function openEngine({ path, readOnly = false, maxPages }: EngineOptions): DatabaseSync {
  return withFaults(`open store "${path}"`, "write", () => {
    if (!readOnly) prepareFiles(path);
    else if (!existsSync(path)) {
      throw new Fault("notFound", `Cannot open store "${path}": there is none`);
    }
    const db = new DatabaseSync(path, { readOnly, timeout: BUSY_MS });
    try {
      db.exec(
        "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=MEMORY;" +
          "PRAGMA cache_size=-2000; PRAGMA mmap_size=0; PRAGMA recursive_triggers=ON;" +
          "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA secure_delete=ON",
      );
      if (readOnly) pendingMigrations(pragma(db, "user_version"));
      else {
        checkOurs(db);
        db.exec("PRAGMA journal_mode=WAL");
        migrate(db);
      }
      if (maxPages !== undefined) db.exec(`PRAGMA max_page_count=${Math.trunc(maxPages)}`);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}
