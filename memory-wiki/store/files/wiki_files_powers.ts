/** The real {@link WikiFiles}. @module */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import type { FileLook, NewFile, OpenFile, WikiFiles } from "./wiki_files.ts";

// A pipe in a file's place must not hold the process.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

function kindOf(
  is: { isFile: boolean; isDirectory: boolean; isSymlink: boolean },
): FileLook["kind"] {
  return is.isSymlink ? "link" : is.isFile ? "file" : is.isDirectory ? "folder" : "other";
}

// Deno.lstatSync takes a tenth of the time of node's.
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

/** Files whose syncing the disk joins into one: a fiftieth of the time of one after the other. Each takes two
 * descriptors while it is synced. */
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
    // A second name may lie outside the wiki.
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

/** Files of this machine, as far as this process may. */
export function realWikiFiles(): WikiFiles {
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
