/** Reads files to ingest: regular files at the named path, completely or not at all. @module */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  promises,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import type { FileFacts, SourceReader } from "./source_reader.ts";

/** Bytes per read. */
const PIECE = 1 << 20;

function refused(code: FaultCode, path: string, why: string, cause?: unknown): Fault {
  return new Fault(code, `Cannot read ${JSON.stringify(path)}: ${why}`, { cause });
}

function factsOf(stats: Stats): FileFacts {
  const { size, mtimeMs, ctimeMs, ino } = stats;
  return { size, mtime: mtimeMs, ctime: ctimeMs, inode: ino };
}

function same(a: FileFacts, b: FileFacts): boolean {
  return a.size === b.size && a.mtime === b.mtime && a.ctime === b.ctime && a.inode === b.inode;
}

function faultOf(path: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return refused("notFound", path, "there is none", error);
    case "ELOOP":
      return refused("refused", path, "it is a link", error);
    default:
      return refused("refused", path, `this process may not (${code || "not permitted"})`, error);
  }
}

function look(path: string): FileFacts {
  // A link in the path leads outside the named folder.
  if (realpathSync(path) !== path) {
    const what = lstatSync(path).isSymbolicLink() ? "it is a link" : "a folder above it is a link";
    throw refused("refused", path, what);
  }
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) throw refused("refused", path, "it is a link");
  if (!stats.isFile()) throw refused("refused", path, "it is not a regular file");
  return factsOf(stats);
}

function readWhole(path: string, maxBytes: number): Uint8Array {
  // NONBLOCK: do not wait for a pipe that replaced the file.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = openSync(path, flags);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw refused("refused", path, "it is not a regular file");
    if (stats.size > maxBytes) throw tooLarge(path, stats.size, maxBytes);
    const bytes = new Uint8Array(stats.size);
    for (let done = 0; done < bytes.length;) {
      const count = readSync(file, bytes, done, Math.min(PIECE, bytes.length - done), done);
      if (count === 0) throw changed(path);
      done += count;
    }
    if (!same(factsOf(fstatSync(file)), factsOf(stats))) throw changed(path);
    return bytes;
  } finally {
    closeSync(file);
  }
}

function tooLarge(path: string, size: number, max: number): Fault {
  return refused("tooLarge", path, `it has ${size} bytes, ${max} are taken`);
}

function changed(path: string): Fault {
  return refused("conflict", path, "it was changed while it was read; ingest it again");
}

/**
 * Makes the reader, with this process's permission to read. Each method awaits one lstat on another thread,
 * so that requests are served between files; making every call asynchronous would take most of the time.
 */
export function makeSourceReader(): SourceReader {
  return Object.freeze<SourceReader>({
    async look(path) {
      try {
        await promises.lstat(path);
        return look(path);
      } catch (error) {
        throw faultOf(path, error);
      }
    },
    async read(path, maxBytes) {
      try {
        await promises.lstat(path);
        const before = look(path);
        if (before.size > maxBytes) throw tooLarge(path, before.size, maxBytes);
        const bytes = readWhole(path, maxBytes);
        // INVARIANT: the bytes read are those of the file at the path (test: mallory swaps the file for a link).
        if (!same(before, look(path))) throw changed(path);
        return { bytes, facts: before };
      } catch (error) {
        throw faultOf(path, error);
      }
    },
  });
}
