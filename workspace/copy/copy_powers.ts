/** The real {@link CopyFiles}. @module */
import { FsTrouble, type Kind, type TroubleCode } from "../host/files.ts";
import type { CopyFiles, CopyStat } from "./copy_files.ts";

/** Whoever runs the program, as whichever user, may write its copy: nobody else can reach it. */
const FOLDER_MODE = 0o777;

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new FsTrouble(codeOf(error), error);
  }
}

function codeOf(error: unknown): TroubleCode {
  if (error instanceof Deno.errors.NotFound) return "notFound";
  if (error instanceof Deno.errors.PermissionDenied) return "denied";
  if (error instanceof Deno.errors.NotCapable) return "denied";
  if (error instanceof Deno.errors.AlreadyExists) return "exists";
  if (error instanceof Deno.errors.NotADirectory) return "notFolder";
  return error instanceof Error && error.message.includes("No space") ? "noSpace" : "other";
}

function kindOf(is: { isFile: boolean; isDirectory: boolean; isSymlink: boolean }): Kind {
  return is.isSymlink ? "link" : is.isFile ? "file" : is.isDirectory ? "folder" : "other";
}

function stat(path: string): CopyStat | undefined {
  try {
    const info = Deno.lstatSync(path);
    const { dev, ino, size, ctime } = info;
    const mark = [dev, ino, size, ctime?.getTime() ?? "?"].join(":");
    return { kind: kindOf(info), bytes: size, mark };
  } catch (error) {
    const code = codeOf(error);
    if (code === "notFound" || code === "notFolder") return undefined;
    throw new FsTrouble(code, error);
  }
}

/** Files of this machine, as far as this process may. */
export function denoCopyFiles(): CopyFiles {
  return Object.freeze<CopyFiles>({
    stat,
    list: (path) =>
      attempt(() =>
        [...Deno.readDirSync(path)].map((one) => ({ name: one.name, kind: kindOf(one) }))
      ),
    read: (path) => attempt(() => Deno.readFileSync(path)),
    write: (path, pieces, mode) =>
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
      }),
    makeFolder: (path) =>
      attempt(() => {
        Deno.mkdirSync(path);
        Deno.chmodSync(path, FOLDER_MODE);
      }),
    readLink: (path) => attempt(() => Deno.readLinkSync(path)),
    makeLink: (target, path) => attempt(() => Deno.symlinkSync(target, path)),
    rename: (from, to) => attempt(() => Deno.renameSync(from, to)),
    reopen: (folder) => attempt(() => Deno.chmodSync(folder, FOLDER_MODE)),
  });
}
