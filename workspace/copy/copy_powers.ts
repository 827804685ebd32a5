/** The real {@link CopyFiles}. Used by main.ts. @module */
import { attempt, kindOf, tryThere } from "../host/trouble_powers.ts";
import type { CopyFiles, CopyStat } from "./copy_files.ts";

/** Every user may write a copy, because a program runs as any user; only the program reaches it. */
const FOLDER_MODE = 0o777;
const ONE = new Uint8Array(1);

function stat(path: string): CopyStat | undefined {
  return tryThere(() => {
    const info = Deno.lstatSync(path);
    const { dev, ino, size, mode, nlink, uid, gid } = info;
    const { modifiedMs, changedMs } = timesOf(info);
    const mark = [dev, ino, size, mode, nlink, uid, gid, modifiedMs, changedMs].join(":");
    return {
      ...{ kind: kindOf(info), bytes: size, mode: mode ?? 0, links: nlink ?? 1 },
      ...{ mark, modifiedMs, changedMs },
    };
  });
}

/** Deno reports the time of the last change in whole seconds only. */
function timesOf(info: Deno.FileInfo): { readonly modifiedMs: number; readonly changedMs: number } {
  return { modifiedMs: info.mtime?.getTime() ?? 0, changedMs: info.ctime?.getTime() ?? 0 };
}

function setTime(path: string, modifiedMs: number): void {
  Deno.utimeSync(path, new Date(modifiedMs), new Date(modifiedMs));
}

/** The machine's files, within this process's permissions. */
export function denoCopyFiles(): CopyFiles {
  return Object.freeze<CopyFiles>({
    stat,
    list: (path) =>
      attempt(() =>
        [...Deno.readDirSync(path)].map((one) => ({ name: one.name, kind: kindOf(one) }))
      ),
    read: (path) => attempt(() => Deno.readFileSync(path)),
    write: (path, pieces, { mode, modifiedMs }) =>
      attempt(() => {
        const file = Deno.openSync(path, { write: true, createNew: true });
        try {
          for (const piece of pieces) {
            for (let at = 0; at < piece.length;) at += file.writeSync(piece.subarray(at));
          }
        } finally {
          file.close();
        }
        Deno.chmodSync(path, mode);
        if (modifiedMs !== undefined) setTime(path, modifiedMs);
      }),
    setTime: (path, modifiedMs) => attempt(() => setTime(path, modifiedMs)),
    makeFolder: (path) =>
      attempt(() => {
        Deno.mkdirSync(path);
        Deno.chmodSync(path, FOLDER_MODE);
      }),
    remove: (path) => attempt(() => Deno.removeSync(path)),
    readLink: (path) => attempt(() => Deno.readLinkSync(path)),
    makeLink: (target, path) => attempt(() => Deno.symlinkSync(target, path)),
    rename: (from, to) => attempt(() => Deno.renameSync(from, to)),
    reopen: (folder) => attempt(() => Deno.chmodSync(folder, FOLDER_MODE)),
    touch: (probe) =>
      attempt(() => {
        const file = Deno.openSync(probe, { append: true, create: true });
        try {
          file.writeSync(ONE);
          return timesOf(file.statSync());
        } finally {
          file.close();
        }
      }),
  });
}
