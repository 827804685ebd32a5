/**
 * Reuses the copies of the previous run. Where the program left everything unchanged, the copies
 * stay in place; otherwise each certainly unchanged file is moved into new folders, so that no name
 * made by the program is ever reached. Used by prepare.ts and service.ts.
 * @module
 */
import { FsTrouble } from "../host/files.ts";
import { type Copied, type Copies, isSame } from "./copies.ts";
import { type CopyFiles, statOf } from "./copy_files.ts";

/** The copies of the previous run, as collected. */
export interface Earlier {
  readonly copies: Copies;
  /** True where everything is certainly unchanged and nothing was added, or where nothing ran. */
  readonly untouched: boolean;
}

/** The folder for copies. Every method but `finish` is called at most once for a path. */
export interface Ground {
  /** The folder of the generation. */
  readonly place: string;
  /** Moves the previous copy of this origin to its path; undefined if a new copy is needed. */
  take(path: string, origin: string | undefined): Copied | undefined;
  /** Creates a folder, or keeps the existing one. */
  folder(path: string): void;
  /** Removes everything that was not asked for. */
  finish(): void;
  /** Whether reuse changed anything on the disk; the copying side counts its own writes. */
  changed(): boolean;
}

/** Makes the ground of one generation. `fresh` is the path of a new folder, whose parent exists. */
export function makeGround(
  files: CopyFiles,
  fresh: string,
  earlier: Earlier | undefined,
): Ground {
  if (earlier?.untouched === true) return inPlace(files, earlier.copies);
  return anew(files, fresh, earlier?.copies);
}

function anew(files: CopyFiles, place: string, copies: Copies | undefined): Ground {
  files.makeFolder(place);
  return {
    place,
    take(path, origin): Copied | undefined {
      const was = copies?.entries.get(path);
      if (copies === undefined || was === undefined) return undefined;
      if (origin === undefined || was.origin !== origin) return undefined;
      const from = `${copies.place}/${path}`, to = `${place}/${path}`;
      try {
        // INVARIANT: a reused file is the very file that was copied, whatever links and folders the
        // program left on the way to it (test: nothing that a hostile program leaves).
        if (!isSame(was.stat, files.stat(from), copies.sealedMs)) return undefined;
        files.rename(from, to);
      } catch (error) {
        // The program closed a folder, or removed it.
        if (error instanceof FsTrouble) return undefined;
        throw error;
      }
      return { ...was, stat: statOf(files, to) };
    },
    folder: (path) => files.makeFolder(`${place}/${path}`),
    finish: () => undefined,
    changed: () => true,
  };
}

function inPlace(files: CopyFiles, { place, entries, folders }: Copies): Ground {
  /** Files and folders on the disk that were not asked for yet. */
  const left = new Map(entries), leftFolders = new Set(folders.keys());
  let changed = false;
  const remove = (path: string): void => {
    files.remove(`${place}/${path}`);
    changed = true;
  };
  const clear = (which: (path: string) => boolean): void => {
    for (const path of [...left.keys()].filter(which)) {
      remove(path);
      left.delete(path);
    }
    const deepest = [...leftFolders].filter(which).sort((a, b) => b.length - a.length);
    for (const path of deepest) {
      remove(path);
      leftFolders.delete(path);
    }
  };
  const clearAt = (path: string): void => {
    if (!left.has(path) && !leftFolders.has(path)) return;
    clear((other) => other === path || other.startsWith(`${path}/`));
  };
  return {
    place,
    take(path, origin): Copied | undefined {
      const was = left.get(path);
      if (was !== undefined && origin !== undefined && was.origin === origin) {
        left.delete(path);
        return was;
      }
      clearAt(path);
      return undefined;
    },
    folder(path): void {
      if (leftFolders.delete(path)) return;
      clearAt(path);
      files.makeFolder(`${place}/${path}`);
      changed = true;
    },
    finish: () => clear(() => true),
    changed: () => changed,
  };
}
