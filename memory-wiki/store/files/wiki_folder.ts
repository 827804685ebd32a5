/**
 * The wiki's folder, by names within it. Before anything is read or written it is looked whether the folder
 * and `raw/` and `pages/` are still the folders that were opened, and none of them a link.
 * @module
 */
import { isAbsolute } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import { storeFault } from "../sqlite/database.ts";

/** A file or folder of the wiki: `index.md`, `raw/NAME`, `pages/NAME.md`. */
export type WikiPath = string;

/** The folders of a wiki. */
export const WIKI_FOLDERS = ["raw", "pages"] as const;

/** The wiki's folder. Nothing here follows a link; a link in a file's place is `refused`. */
export interface WikiFolder {
  readonly root: string;
  /** Throws `refused` when the folder, raw/ or pages/ is not what was opened. */
  check(): void;
  look(path: WikiPath): FileLook | undefined;
  /** As look; throws `refused` when something else than a regular file lies there. */
  expect(path: WikiPath): FileLook | undefined;
  list(folder: "raw" | "pages"): ReturnType<WikiFiles["list"]>;
  /** What lies in a folder, by name. */
  lookAll(folder: "raw" | "pages"): ReadonlyMap<string, FileLook>;
  /** Undefined where there is none. Throws `tooLarge` above `most` bytes. */
  read(path: WikiPath, most: number): Uint8Array | undefined;
  /** Throws `storeCorrupt` where there is none. */
  open(path: WikiPath): OpenFile;
  /** Undefined where there is none. */
  tryOpen(path: WikiPath): OpenFile | undefined;
  /** Writes beside the target, to the disk, and gives the temporary file's path. */
  stage(path: WikiPath, bytes: Uint8Array, mode?: number): WikiPath;
  /** As {@link WikiFolder.stage} for many; where one fails, none is left. */
  stageAll(
    files: readonly { readonly path: WikiPath; readonly bytes: Uint8Array }[],
    mode?: number,
  ): Promise<readonly WikiPath[]>;
  place(staged: WikiPath, path: WikiPath): void;
  /**
   * Puts `staged` in the place of what was `seen` there, or removes that without `staged`. Gives false, and changes
   * nothing, where something else is there by then: it is looked at last of all.
   */
  supersede(path: WikiPath, seen: FileLook | undefined, staged: WikiPath | undefined): boolean;
  remove(path: WikiPath): void;
  append(path: WikiPath, bytes: Uint8Array): void;
  syncFolder(folder: "raw" | "pages"): void;
}

/** How temporary files begin: nothing of the store's or a person's is called so. */
export const STAGED = ".remit-";

/** What a wiki's folder is opened with. */
export interface WikiFolderOptions {
  /** Absolute and real. */
  readonly root: string;
  /** Make what is missing of the folder, raw/ and pages/. */
  readonly create: boolean;
  readonly id: (prefix: string) => string;
}

/**
 * Opens the folder. Faults: `notFound` without `create` where it is no wiki's, `refused` for links,
 * `invalidInput` for a path that is not absolute.
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

  function read(path: WikiPath, most: number): Uint8Array | undefined {
    const found = plain(path);
    if (found === undefined) return undefined;
    if (found.bytes > most) {
      throw new Fault("tooLarge", `Cannot read "${path}": it has more than ${most} bytes`);
    }
    return guarded("read", path, (absolute) => readWhole(files.open(absolute), most));
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
      // It was this folder all the time.
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
      // Another process may have been first.
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

function readWhole(file: OpenFile, most: number): Uint8Array {
  try {
    const into = new Uint8Array(Math.min(file.bytes, most));
    let length = 0;
    for (let got = 1; got > 0 && length < into.length; length += got) {
      got = file.read(into.subarray(length), length);
    }
    return into.subarray(0, length);
  } finally {
    file.close();
  }
}

/** Reads a file in pieces of 1 MiB, each good until the next, and closes it. */
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

// What the store asks of the file system. Real ones: wiki_files_powers.ts.

/** What lies at a path, itself: a link is a link. */
export interface FileLook {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  /** Equal while the same bytes lie in the same place, up to the clock's grain: device, inode, size and times. */
  readonly mark: string;
  /** When content or name last changed, milliseconds since 1970. */
  readonly changedAt: number;
  /** Device and inode. */
  readonly identity: string;
  /** How many names the file has. */
  readonly names: number;
}

/** A file that is open for reading. */
export interface OpenFile {
  readonly bytes: number;
  /** Reads into `into` from byte `at` on; gives how many, 0 at the end. */
  read(into: Uint8Array, at: number): number;
  close(): void;
}

/** A file to be made. */
export interface NewFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** Files by absolute path. No method follows a link in the path's last place. Errors carry the system's `code`. */
export interface WikiFiles {
  look(path: string): FileLook | undefined;
  /** The path without links. */
  real(path: string): string;
  list(folder: string): readonly { readonly name: string; readonly kind: FileLook["kind"] }[];
  open(path: string): OpenFile;
  /** Makes a file that must not be there yet, and waits until its bytes are on the disk. */
  write(path: string, bytes: Uint8Array, mode: number): void;
  /** As {@link WikiFiles.write} for many, waiting for the disk once; where one fails, none is left. */
  writeAll(files: readonly NewFile[]): Promise<void>;
  /** Writes at the end of a file, made if need be, without waiting for the disk. */
  append(path: string, bytes: Uint8Array): void;
  /** Puts `from` in the place of `to`, whatever that was but a folder. */
  rename(from: string, to: string): void;
  /** Nothing happens where there is none. */
  remove(path: string): void;
  /** Makes a folder that must not be there yet. */
  makeFolder(path: string): void;
  /** Waits until the names in a folder are on the disk. */
  syncFolder(path: string): void;
}
