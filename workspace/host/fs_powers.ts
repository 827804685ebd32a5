/** The toolhost's only access to the disk. Used by main.ts and workspace/copy/main.ts. @module */
import { type Files, type FileStat, FsTrouble, type OpenFile } from "./files.ts";
import { attempt, codeOf, kindOf, tryThere } from "./trouble_powers.ts";

function statOf(info: Deno.FileInfo): FileStat {
  return {
    kind: kindOf(info),
    bytes: info.size,
    modifiedMs: info.mtime?.getTime() ?? 0,
    changedMs: info.ctime?.getTime() ?? 0,
    mode: (info.mode ?? 0o644) & 0o7777,
    dev: info.dev,
    ino: info.ino ?? 0,
    links: info.nlink ?? 1,
  };
}

function opened(file: Deno.FsFile): OpenFile {
  let position = 0;
  return {
    stat: () => attempt(() => statOf(file.statSync())),
    readAt: (at, into) =>
      attempt(() => {
        if (at !== position) file.seekSync(at, Deno.SeekMode.Start);
        const count = file.readSync(into) ?? 0;
        position = at + count;
        return count;
      }),
    close: () => file.close(),
  };
}

function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

/** The machine's files, within this process's permissions. */
export function denoFiles(): Files {
  return Object.freeze<Files>({
    stat: (path) => tryThere(() => statOf(Deno.lstatSync(path))),
    real: (path) => tryThere(() => Deno.realPathSync(path)),
    list: (path) =>
      attempt(() =>
        Array.from(
          Deno.readDirSync(path),
          (entry) => ({ name: entry.name, kind: kindOf(entry) }),
        )
      ),
    open: (path) => attempt(() => opened(Deno.openSync(path, { read: true }))),
    create: (path, bytes, mode) =>
      attempt(() => {
        // A private file is private from its first byte on.
        const bits = mode === undefined ? {} : { mode: mode & 0o600 };
        const file = Deno.openSync(path, { write: true, createNew: true, ...bits });
        try {
          writeAll(file, bytes);
          file.syncSync();
        } finally {
          file.close();
        }
        // The process's umask would remove bits from a mode given to open.
        if (mode !== undefined && Deno.build.os !== "windows") Deno.chmodSync(path, mode);
      }),
    rename: (from, to) => attempt(() => Deno.renameSync(from, to)),
    remove: (path) => attempt(() => Deno.removeSync(path)),
    makeFolder: (path) => attempt(() => Deno.mkdirSync(path)),
    settle(folder): void {
      try {
        const handle = Deno.openSync(folder, { read: true });
        try {
          handle.syncSync();
        } finally {
          handle.close();
        }
      } catch (error) {
        // Some systems cannot sync a folder; its files are synced already.
        if (codeOf(error) === "noSpace") throw new FsTrouble("noSpace", error);
      }
    },
  });
}

/** SHA-256 in hex by WebCrypto: importing node:crypto costs this process 16 ms at its start. */
export async function webSha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** Lets the port read: long work awaits it regularly, so that a cancel can arrive. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
