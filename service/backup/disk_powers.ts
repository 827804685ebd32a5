/**
 * The disk and the databases for backup and restore: large files in pieces, links never followed,
 * databases copied as of one moment. The store and the log are loaded only for a check.
 * @module
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { Digest } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { BackupPowers, CheckedLog } from "./format.ts";

const PIECE = 1_048_576;

/** A file that is read or written in pieces. */
export interface OpenFile {
  readonly size: number;
  readonly mode: number;
  /** The next bytes, at most `max`; undefined at the end. The next call reuses the array. */
  read(max?: number): Uint8Array | undefined;
  write(bytes: Uint8Array): void;
  /** Makes the written bytes durable. */
  sync(): void;
  close(): void;
}

function opened(file: Deno.FsFile): OpenFile {
  const { size, mode } = file.statSync();
  const buffer = new Uint8Array(PIECE);
  return Object.freeze<OpenFile>({
    size,
    mode: (mode ?? 0) & 0o7777,
    read(max = PIECE): Uint8Array | undefined {
      const n = file.readSync(buffer.subarray(0, Math.min(max, PIECE)));
      return n === null ? undefined : buffer.subarray(0, n);
    },
    write(bytes): void {
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    },
    sync: () => file.syncSync(),
    close: () => file.close(),
  });
}

function absent<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The disk, with this process's rights. */
export const backupDisk = Object.freeze({
  /** Undefined unless `path` is a plain file. */
  open(path: string): OpenFile | undefined {
    return absent(() => {
      if (!Deno.lstatSync(path).isFile) return undefined;
      return opened(Deno.openSync(path, { read: true }));
    });
  },
  /** A new file; throws where something exists. */
  create(path: string, mode: number): OpenFile {
    return opened(Deno.openSync(path, { write: true, createNew: true, mode }));
  },
  /** Sorted paths of the plain files beneath a folder, and the number of other entries. */
  walk(root: string, skip: (path: string) => boolean): {
    readonly files: readonly string[];
    readonly others: number;
  } {
    const files: string[] = [];
    let others = 0;
    const into = (folder: string): void => {
      const entries = absent(() => [...Deno.readDirSync(join(root, folder))]) ?? [];
      for (const entry of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (skip(path)) continue;
        if (entry.isDirectory) into(path);
        else if (entry.isFile) files.push(path);
        else others += 1;
      }
    };
    into("");
    return { files, others };
  },
  exists: (path: string): boolean => absent(() => Deno.lstatSync(path)) !== undefined,
  makeFolder: (path: string): void => Deno.mkdirSync(path, { recursive: true, mode: 0o700 }),
  rename: (from: string, to: string): void => Deno.renameSync(from, to),
  /** Removes a tree of empty folders, if there is one; throws where it holds a file. */
  removeEmpty(path: string): void {
    for (const entry of absent(() => [...Deno.readDirSync(path)]) ?? []) {
      if (entry.isDirectory) backupDisk.removeEmpty(join(path, entry.name));
    }
    absent(() => Deno.removeSync(path));
  },
  /** Removes a file, or a folder with its contents; does nothing where there is none. */
  remove: (path: string): void => void absent(() => Deno.removeSync(path, { recursive: true })),
});
/** The disk of backup and restore. */
export type BackupDisk = typeof backupDisk;

const BUSY_MS = 5_000;
/** Copies all pages in one step: a stepwise copy starts again at each write in between. */
const ALL = 1_000_000_000;

/**
 * Copies a database page by page, including its write-ahead log, without blocking its writers.
 * (`VACUUM INTO` would renumber rows, and text indexes refer to row numbers.)
 *
 * @throws Fault `storeCorrupt` where the file cannot be read as a database
 */
async function copySqlite(path: string, into: string): Promise<void> {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
    await backup(db, into, { rate: ALL });
  } catch (cause) {
    throw new Fault(
      "storeCorrupt",
      `Cannot copy the database "${path}": ${cause instanceof Error ? cause.message : "?"}`,
      { cause },
    );
  } finally {
    db?.close();
  }
}

/** The store and the log, as main.ts wires them. */
export interface LogKit {
  flaws(path: string): readonly string[];
  verify(
    path: string,
    options: { readonly keyFile: string; readonly head?: Digest },
  ): Promise<CheckedLog>;
}

/** The database powers of backup and restore; `provide` loads the store and the log. */
export function makeBackupPowers(provide: () => Promise<LogKit>): BackupPowers {
  return Object.freeze<BackupPowers>({
    copy: copySqlite,
    async verify(path, { keyFile, head }): Promise<CheckedLog> {
      // The check would create a key where there is none.
      if (!existsSync(keyFile)) {
        throw new Fault("storeCorrupt", `Cannot check "${path}": its receipt key is gone`);
      }
      const kit = await provide();
      const found = kit.flaws(path);
      if (found.length > 0) throw new Fault("storeCorrupt", `Cannot use "${path}": ${found[0]}`);
      return await kit.verify(path, {
        keyFile,
        ...(head === undefined ? {} : { head: Digest.parse(head) }),
      });
    },
  });
}
