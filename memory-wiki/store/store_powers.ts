/** Disk and SQLite engine of the wiki's store. Used by inside.ts and memory-wiki/open_wiki_powers.ts. @module */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../contracts/base/mod.ts";
import type { FileLook, NewFile, OpenFile, WikiFiles } from "./files/wiki_folder.ts";
import type { StorePowers } from "./inside.ts";
import { makeDatabase, withFaults } from "./sqlite/database.ts";
import { pendingMigrations } from "./sqlite/migrations.ts";

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

function newId(prefix: string): string {
  let id = prefix;
  while (id.length < prefix.length + 12) {
    // 252 is the largest multiple of 36 in a byte, so all digits are equally likely.
    for (const byte of randomBytes(16)) {
      if (byte < 252 && id.length < prefix.length + 12) id += DIGITS[byte % 36];
    }
  }
  return id;
}

/** The store's powers in this process. */
export function wikiStorePowers(): StorePowers {
  return Object.freeze<StorePowers>({
    now: () => Date.now(),
    id: newId,
    files: realWikiFiles(),
    openDatabase: (options) => makeDatabase(openEngine(options)),
    hasDatabase,
  });
}

// The only file of memory-wiki/ that opens a database.

/** "Rwki": marks the database as ours in its header. */
const APPLICATION_ID = 0x52776b69;
/** Milliseconds to wait for another process's lock. */
const BUSY_MS = 20_000;

/** Path and mode of the database. */
export interface EngineOptions {
  readonly path: string;
  readonly readOnly: boolean;
}

/** Creates folder (0700) and file (0600) before SQLite, which would apply the umask. */
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
    // Read again under the lock: another process may have migrated.
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
function hasDatabase(path: string): boolean {
  return existsSync(path) && lstatSync(path).size > 0;
}

/**
 * Opens the database in WAL mode with every commit synced; created and migrated unless `readOnly`.
 * @throws Fault `storeFull`, `storeCorrupt`, `conflict`, `unavailable` (newer schema), `refused`, `notFound`
 */
function openEngine({ path, readOnly }: EngineOptions): DatabaseSync {
  return withFaults(`open wiki "${path}"`, () => {
    if (!readOnly) prepareFiles(path);
    else if (!existsSync(path)) {
      throw new Fault("notFound", `Cannot open wiki: it has no state here; run "remit wiki init"`);
    }
    const db = new DatabaseSync(path, { readOnly, timeout: BUSY_MS });
    try {
      // Temporary data in memory: the process may write only to this folder.
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

// NONBLOCK: a pipe in place of a file must not block.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

function kindOf(
  is: { isFile: boolean; isDirectory: boolean; isSymlink: boolean },
): FileLook["kind"] {
  return is.isSymlink ? "link" : is.isFile ? "file" : is.isDirectory ? "folder" : "other";
}

// Deno.lstatSync takes a tenth of the time of Node's.
function look(path: string): FileLook | undefined {
  try {
    const info = Deno.lstatSync(path);
    const [mtime, ctime] = [info.mtime?.getTime() ?? 0, info.ctime?.getTime() ?? 0];
    return {
      kind: kindOf(info),
      bytes: info.size,
      mark: [info.dev, info.ino, info.size, mtime, ctime].join(":"),
      changedAt: Math.max(mtime, ctime),
      identity: `${info.dev}:${info.ino}`,
      names: info.nlink ?? 1,
    };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return undefined;
    }
    throw error;
  }
}

function writeBytes(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at);
}

function open(path: string): OpenFile {
  const fd = openSync(path, READ);
  const info = fstatSync(fd);
  if (!info.isFile()) {
    closeSync(fd);
    throw Object.assign(new Error(`"${path}" is not a regular file`), { code: "ELOOP" });
  }
  return Object.freeze({
    bytes: info.size,
    read: (into: Uint8Array, at: number) => readSync(fd, into, 0, into.length, at),
    close: () => closeSync(fd),
  });
}

function write(path: string, bytes: Uint8Array, mode: number): void {
  const fd = openSync(path, "wx", mode);
  try {
    writeBytes(fd, bytes);
    fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
  closeSync(fd);
}

/** Files synced concurrently: a fiftieth of the time of syncing them in turn. Each uses two descriptors meanwhile. */
const TOGETHER = 32;

async function writeAll(files: readonly NewFile[]): Promise<void> {
  const made: string[] = [];
  try {
    for (let at = 0; at < files.length; at += TOGETHER) {
      await writeGroup(files.slice(at, at + TOGETHER), made);
    }
  } catch (error) {
    for (const path of made) rmSync(path, { force: true });
    throw error;
  }
}

async function writeGroup(files: readonly NewFile[], made: string[]): Promise<void> {
  const open: Deno.FsFile[] = [];
  try {
    for (const { path, bytes, mode } of files) {
      const file = Deno.openSync(path, { write: true, createNew: true, mode });
      made.push(path);
      open.push(file);
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    }
    await Promise.all(open.map((file) => file.syncData()));
  } finally {
    for (const file of open) file.close();
  }
}

function append(path: string, bytes: Uint8Array): void {
  const fd = openSync(path, APPEND, 0o644);
  try {
    const info = fstatSync(fd);
    // A hard link may lie outside the wiki.
    if (!info.isFile() || info.nlink !== 1) {
      throw Object.assign(new Error(`"${path}" has another name`), { code: "ELOOP" });
    }
    try {
      writeBytes(fd, bytes);
    } catch (error) {
      ftruncateSync(fd, info.size);
      throw error;
    }
  } finally {
    closeSync(fd);
  }
}

/** The file system, within this process's permissions. */
function realWikiFiles(): WikiFiles {
  return Object.freeze<WikiFiles>({
    look,
    real: (path) => realpathSync(path),
    list: (folder) =>
      [...Deno.readDirSync(folder)].map((one) => ({ name: one.name, kind: kindOf(one) })),
    open,
    write,
    writeAll,
    append,
    rename: (from, to) => renameSync(from, to),
    remove: (path) => rmSync(path, { force: true }),
    makeFolder: (path) => mkdirSync(path, { mode: 0o755 }),
    syncFolder(path) {
      const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      try {
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    },
  });
}
