/** The command line's access to the operator's files. Wired in cli/main.ts. @module */
import { createHash } from "node:crypto";
import { accessSync, constants, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { diskWhy, lackOfRoom } from "./disk_fault.ts";
import type { DiskRead, DiskWrite, TreeFacts } from "./machine.ts";

/**
 * Mode of new files. Not passed to `Deno.writeFile` and similar, which change the mode of existing files, too: of the
 * person's own file, or of a device that nobody else could open then.
 */
const NEW_FILE = 0o600;

function missing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (missing(error)) return undefined;
    throw error;
  }
}

/** {@link orUndefined} for a path; throws a refusal where this process has no access. */
function look<T>(path: string, read: () => T): T | undefined {
  try {
    return orUndefined(read);
  } catch (cause) {
    // No file can have such a name.
    if (
      path.includes("\0") ||
      (cause instanceof Error && "code" in cause && cause.code === "ENAMETOOLONG")
    ) {
      return undefined;
    }
    const why = cause instanceof Deno.errors.PermissionDenied ||
        cause instanceof Deno.errors.NotCapable
      ? "this process may not"
      : diskWhy(cause);
    if (why === undefined) throw cause;
    throw new Fault("refused", `Cannot read "${path}": ${why}`, { cause });
  }
}

/** Reads a plain file; refuses devices, which may never end, and pipes, which may never begin. */
function readPlain(path: string, maxBytes: number): Uint8Array {
  const refused = (why: string): Fault => new Fault("refused", `Cannot read "${path}": ${why}`);
  if (!Deno.statSync(path).isFile) throw refused("it is no plain file");
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(Math.min(file.statSync().size, maxBytes) + 1);
  let length = 0;
  for (let read: number | null = 1; read !== null && read > 0; length += read ?? 0) {
    read = file.readSync(bytes.subarray(length));
  }
  if (length < bytes.length) return bytes.subarray(0, length);
  throw new Fault(
    "tooLarge",
    `Cannot read "${path}": it has more than ${maxBytes} bytes, or grows`,
  );
}

/** Links a draft to its name unless the name is taken: of two writers at once, the first wins. */
function linkFresh(draft: string, path: string): void {
  try {
    Deno.linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  Deno.removeSync(draft);
}

function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

/** Why `path` cannot be written: checks the nearest existing folder. */
function obstacle(path: string): string | undefined {
  for (let folder = path;; folder = dirname(folder)) {
    const found = orUndefined(() => Deno.statSync(folder));
    if (found === undefined && folder !== "/") continue;
    if (found?.isDirectory === false) {
      return folder === path ? "it is a file" : `"${folder}" is a file`;
    }
    accessSync(folder, constants.W_OK);
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    return lackOfRoom({ freeBytes: bavail * bsize, files, freeFiles: ffree });
  }
}

/** Most entries of a tree. */
const MAX_ENTRIES = 200_000;
const CHUNK = 1024 * 1024;

/** Walks a tree. @throws Fault `tooLarge`; an error of the system for an unreadable entry */
function readTreeFacts(root: string): TreeFacts {
  const files: string[] = [];
  // `seen` holds sizes and times, a quick sign of changes; `shape` the kinds of entries, part of the digest that decides.
  const seen = createHash("sha256"), shape = createHash("sha256");
  let entries = 0, bytes = 0;
  const walk = (folder: string, name: string): void => {
    for (const entry of [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1)) {
      entries += 1;
      if (entries > MAX_ENTRIES) {
        throw new Fault(
          "tooLarge",
          `Cannot pin "${root}": it holds more than ${MAX_ENTRIES} files`,
        );
      }
      const path = `${folder}/${entry.name}`, own = `${name}/${entry.name}`;
      const { size, mtime, ctime, ino, mode } = Deno.lstatSync(path);
      const times = `${mtime?.getTime()} ${ctime?.getTime()} ${ino}`;
      if (entry.isDirectory) {
        shape.update(`${own}\0folder\n`);
        walk(path, own);
      } else if (entry.isSymlink) {
        shape.update(`${own}\0link ${Deno.readLinkSync(path)}\n`);
      } else {
        const runs = (mode ?? 0) & 0o111;
        shape.update(`${own}\0file ${size} ${runs}\n`);
        seen.update(`${own}\0${size} ${times} ${runs}\n`);
        bytes += size;
        files.push(path);
      }
    }
  };
  walk(root, "");
  const shapeDigest = shape.digest("hex");
  return Object.freeze<TreeFacts>({
    ...{ files: files.length, bytes },
    fingerprint: createHash("sha256").update(`${shapeDigest} ${seen.digest("hex")}`).digest("hex"),
    digest(): string {
      const all = createHash("sha256").update(`${shapeDigest}\n`);
      const buffer = new Uint8Array(CHUNK);
      for (const path of files) {
        using file = Deno.openSync(path);
        for (let read = file.readSync(buffer); read !== null; read = file.readSync(buffer)) {
          all.update(buffer.subarray(0, read));
        }
      }
      return all.digest("hex");
    },
  });
}

/** Makes disk access with the rights of this process. */
export function makeDisk(): DiskRead & DiskWrite {
  return Object.freeze({
    tree: readTreeFacts,
    read: (path: string, options?: { readonly most?: number }) =>
      look(
        path,
        () => options?.most === undefined ? Deno.readFileSync(path) : readPlain(path, options.most),
      ),
    list: (path: string) =>
      look(path, () => [...Deno.readDirSync(path)].map((entry) => entry.name).sort()) ?? [],
    real: (path: string) => look(path, () => Deno.realPathSync(path)),
    stat: (path: string) =>
      look(path, () => {
        const found = Deno.statSync(path);
        return {
          folder: found.isDirectory,
          plain: found.isFile,
          socket: found.isSocket === true,
          mode: (found.mode ?? 0) & 0o7777,
          uid: found.uid ?? 0,
        };
      }),
    obstacle: (path: string) => {
      try {
        return obstacle(path);
      } catch (error) {
        // Deno refuses programs access to /sys, /proc and /dev.
        if (error instanceof Deno.errors.NotCapable) return "it is no place for files";
        const why = diskWhy(error);
        if (why === undefined) throw error;
        return why;
      }
    },
    write(
      path: string,
      bytes: Uint8Array | string,
      options?: { readonly mode?: number; readonly fresh?: boolean },
    ): void {
      const draft = `${path}.${crypto.randomUUID()}.tmp`;
      const data = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
      try {
        using file = Deno.openSync(draft, {
          write: true,
          createNew: true,
          mode: options?.mode ?? NEW_FILE,
        });
        writeAll(file, data);
        file.syncSync();
        if (options?.fresh === true) linkFresh(draft, path);
        else Deno.renameSync(draft, path);
      } catch (error) {
        orUndefined(() => Deno.removeSync(draft));
        throw error;
      }
    },
    remove: (path: string) => void orUndefined(() => Deno.removeSync(path, { recursive: true })),
    makeFolder(path: string, mode = 0o700): void {
      Deno.mkdirSync(path, { recursive: true, mode });
    },
    link(path: string, target: string): void {
      Deno.symlinkSync(target, path);
    },
    append(path: string, text: string): void {
      using file = Deno.openSync(path, { append: true, create: true, mode: NEW_FILE });
      writeAll(file, new TextEncoder().encode(text));
    },
    clear(path: string): void {
      using _file = Deno.openSync(path, {
        ...{ write: true, truncate: true, create: true, mode: NEW_FILE },
      });
    },
    temporary: (prefix: string) => Deno.realPathSync(Deno.makeTempDirSync({ prefix })),
  });
}
