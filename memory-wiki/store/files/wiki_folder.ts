/**
 * Access to the wiki's folder by relative names. Every access first verifies that the folder, `raw/` and
 * `pages/` are the ones that were opened, and no links.
 * @module
 */
import { isAbsolute } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import { storeFault } from "../sqlite/database.ts";

/** A path in the wiki: `index.md`, `raw/NAME`, `pages/NAME.md`. */
export type WikiPath = string;

/** Folders of a wiki. */
export const WIKI_FOLDERS = ["raw", "pages"] as const;

/** The wiki's folder. Links are never followed; a link in place of a file is `refused`. */
export interface WikiFolder {
  readonly root: string;
  /** Throws `refused` when the folder, raw/ or pages/ was replaced. */
  check(): void;
  look(path: WikiPath): FileLook | undefined;
  /** Like look; throws `refused` for anything but a regular file. */
  expect(path: WikiPath): FileLook | undefined;
  list(folder: "raw" | "pages"): ReturnType<WikiFiles["list"]>;
  /** All entries of a folder by name. */
  lookAll(folder: "raw" | "pages"): ReadonlyMap<string, FileLook>;
  /** Undefined if missing. Throws `tooLarge` above `max` bytes. */
  read(path: WikiPath, max: number): Uint8Array | undefined;
  /** Throws `storeCorrupt` if missing. */
  open(path: WikiPath): OpenFile;
  /** Undefined if missing. */
  tryOpen(path: WikiPath): OpenFile | undefined;
  /** Writes a temporary file beside the target durably; returns its path. */
  stage(path: WikiPath, bytes: Uint8Array, mode?: number): WikiPath;
  /** Like {@link WikiFolder.stage} for many files: all or none. */
  stageAll(
    files: readonly { readonly path: WikiPath; readonly bytes: Uint8Array }[],
    mode?: number,
  ): Promise<readonly WikiPath[]>;
  place(staged: WikiPath, path: WikiPath): void;
  /**
   * Replaces the file `seen` at a path by `staged`, or removes it without `staged`. Returns false and changes
   * nothing if the file was replaced meanwhile; that is checked last.
   */
  supersede(path: WikiPath, seen: FileLook | undefined, staged: WikiPath | undefined): boolean;
  remove(path: WikiPath): void;
  append(path: WikiPath, bytes: Uint8Array): void;
  syncFolder(folder: "raw" | "pages"): void;
}

/** Prefix of temporary files, which no other file has. */
export const STAGED = ".remit-";

/** Options of the folder. */
export interface WikiFolderOptions {
  /** Absolute and real. */
  readonly root: string;
  /** Whether to create missing folders. */
  readonly create: boolean;
  readonly id: (prefix: string) => string;
}

/**
 * Opens the folder. Faults: `notFound` without `create` for a folder without wiki, `refused` for links,
 * `invalidInput` for a relative path.
 */
export function openWikiFolder(files: WikiFiles, options: WikiFolderOptions): WikiFolder {
  const { root, create, id } = options;
  if (!isAbsolute(root)) {
    throw new Fault("invalidInput", `Cannot open wiki "${root}": the path is not absolute`);
  }
  const identities = new Map<string, string>();
  for (
    const [index, folder] of [root, ...WIKI_FOLDERS.map((name) => `${root}/${name}`)].entries()
  ) {
    identities.set(folder, provideFolder(files, folder, create, index === 0));
  }

  function check(part?: string): void {
    for (const [folder, identity] of identities) {
      if (part !== undefined && folder !== root && folder !== `${root}/${part}`) continue;
      const found = files.look(folder);
      if (found?.kind === "folder" && found.identity === identity) continue;
      const why = found === undefined
        ? "is gone"
        : found.kind === "link"
        ? "was swapped for a symbolic link"
        : "is not the folder that was opened";
      throw new Fault("refused", `Cannot use wiki: "${folder}" ${why}; nothing was followed`);
    }
  }

  function at(path: WikiPath): string {
    const parts = path.split("/");
    const inside = parts.length === 1 ||
      (parts.length === 2 && identities.has(`${root}/${parts[0]}`));
    if (!inside || parts.some((part) => part === "" || part === "." || part === "..")) {
      throw new TypeError(`Cannot use "${path}": no path of a wiki`);
    }
    check(parts[0]);
    return `${root}/${path}`;
  }

  function guarded<T>(doing: string, path: WikiPath, f: (absolute: string) => T): T {
    try {
      return f(at(path));
    } catch (error) {
      throw storeFault(error, `${doing} "${path}"`);
    }
  }

  function look(path: WikiPath): FileLook | undefined {
    return guarded("look at", path, (absolute) => files.look(absolute));
  }

  function plain(path: WikiPath): FileLook | undefined {
    const found = look(path);
    if (found === undefined || found.kind === "file") return found;
    const what = found.kind === "link" ? "a symbolic link" : "no regular file";
    throw new Fault("refused", `Cannot use "${path}": it is ${what}; nothing was followed`);
  }

  function besides(path: WikiPath): WikiPath {
    return `${path.slice(0, path.lastIndexOf("/") + 1)}${STAGED}${id("f")}`;
  }

  function read(path: WikiPath, max: number): Uint8Array | undefined {
    const found = plain(path);
    if (found === undefined) return undefined;
    if (found.bytes > max) {
      throw new Fault("tooLarge", `Cannot read "${path}": it has more than ${max} bytes`);
    }
    return guarded("read", path, (absolute) => readWhole(files.open(absolute), max));
  }

  function tryOpen(path: WikiPath): OpenFile | undefined {
    return plain(path) === undefined
      ? undefined
      : guarded("read", path, (absolute) => files.open(absolute));
  }

  return Object.freeze<WikiFolder>({
    root,
    check: () => check(),
    look,
    expect: plain,
    list: (folder) => guarded("list", folder, (absolute) => files.list(absolute)),
    read,
    lookAll(folder) {
      const found = guarded(
        "list",
        folder,
        (absolute) =>
          files.list(absolute).flatMap(({ name }) => {
            const look = files.look(`${absolute}/${name}`);
            return look === undefined ? [] : [[name, look] as const];
          }),
      );
      // The folder was not replaced during the listing.
      check(folder);
      return new Map(found);
    },
    tryOpen,
    open(path) {
      const open = tryOpen(path);
      if (open !== undefined) return open;
      throw new Fault("storeCorrupt", `Cannot read "${path}": the file is gone`);
    },
    async stageAll(list, mode = 0o644) {
      check();
      const staged = list.map(({ path }) => besides(path));
      try {
        await files.writeAll(
          list.map(({ bytes }, index) => ({ path: `${root}/${staged[index]}`, bytes, mode })),
        );
      } catch (error) {
        throw storeFault(error, `write "${list[0]?.path}" and others`);
      }
      return staged;
    },
    stage(path, bytes, mode = 0o644) {
      const staged = besides(path);
      guarded("write", path, () => files.write(`${root}/${staged}`, bytes, mode));
      return staged;
    },
    place(staged, path) {
      plain(path);
      guarded("write", path, (absolute) => files.rename(`${root}/${staged}`, absolute));
    },
    supersede: (path, seen, staged) =>
      guarded("write", path, (absolute) => {
        if (files.look(absolute)?.mark !== seen?.mark) return false;
        if (staged === undefined) files.remove(absolute);
        else files.rename(`${root}/${staged}`, absolute);
        return true;
      }),
    remove(path) {
      plain(path);
      guarded("remove", path, (absolute) => files.remove(absolute));
    },
    append(path, bytes) {
      plain(path);
      guarded("write", path, (absolute) => files.append(absolute, bytes));
    },
    syncFolder: (folder) => guarded("write", folder, (absolute) => files.syncFolder(absolute)),
  });
}

function provideFolder(files: WikiFiles, path: string, create: boolean, first: boolean): string {
  let found = files.look(path);
  if (found === undefined && create) {
    try {
      files.makeFolder(path);
    } catch (error) {
      // Another process may have created it.
      if (files.look(path) === undefined) throw storeFault(error, `make folder "${path}"`);
    }
    found = files.look(path);
  }
  if (found === undefined) {
    throw new Fault("notFound", `Cannot open wiki: "${path}" is not there; run "remit wiki init"`);
  }
  if (found.kind !== "folder") {
    const what = found.kind === "link" ? "a symbolic link" : "no folder";
    throw new Fault("refused", `Cannot open wiki: "${path}" is ${what}`);
  }
  if (first && files.real(path) !== path) {
    throw new Fault("refused", `Cannot open wiki: "${path}" is not its real path`);
  }
  return found.identity;
}

function readWhole(file: OpenFile, max: number): Uint8Array {
  try {
    const into = new Uint8Array(Math.min(file.bytes, max));
    let length = 0;
    for (let got = 1; got > 0 && length < into.length; length += got) {
      got = file.read(into.subarray(length), length);
    }
    return into.subarray(0, length);
  } finally {
    file.close();
  }
}

/** Reads a file in pieces of 1 MiB, each valid until the next, and closes it. */
export function eachPiece(file: OpenFile, take: (piece: Uint8Array, at: number) => void): void {
  try {
    const piece = new Uint8Array(Math.min(Math.max(file.bytes, 1), 1_048_576));
    for (let at = 0;;) {
      const got = file.read(piece, at);
      if (got === 0) return;
      take(piece.subarray(0, got), at);
      at += got;
    }
  } finally {
    file.close();
  }
}

// The file system as the store needs it; implemented in store_powers.ts.

/** An entry at a path; links are not followed. */
export interface FileLook {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  /** Equal while the file is unchanged, up to the clock's resolution: device, inode, size and times. */
  readonly mark: string;
  /** Milliseconds since 1970 of the last change of content or name. */
  readonly changedAt: number;
  /** Device and inode. */
  readonly identity: string;
  /** Number of hard links. */
  readonly names: number;
}

/** A file open for reading. */
export interface OpenFile {
  readonly bytes: number;
  /** Reads from offset `at`; returns the number of bytes, 0 at the end. */
  read(into: Uint8Array, at: number): number;
  close(): void;
}

/** A file to create. */
export interface NewFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/**
 * File system access by absolute path. A link as the last segment is never followed. Errors carry the
 * system's `code`.
 */
export interface WikiFiles {
  look(path: string): FileLook | undefined;
  /** The path without links. */
  real(path: string): string;
  list(folder: string): readonly { readonly name: string; readonly kind: FileLook["kind"] }[];
  open(path: string): OpenFile;
  /** Creates a new file durably. */
  write(path: string, bytes: Uint8Array, mode: number): void;
  /** Like {@link WikiFiles.write} for many files, with one wait: all or none. */
  writeAll(files: readonly NewFile[]): Promise<void>;
  /** Appends to a file, created if missing, without waiting for the disk. */
  append(path: string, bytes: Uint8Array): void;
  /** Replaces `to` by `from`; `to` must not be a folder. */
  rename(from: string, to: string): void;
  /** A missing file is no error. */
  remove(path: string): void;
  /** Creates a new folder. */
  makeFolder(path: string): void;
  /** Makes the names in a folder durable. */
  syncFolder(path: string): void;
}
