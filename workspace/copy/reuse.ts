/**
 * What copies of the run before serve once more. Where the program left everything as it was, they
 * stay where they lie; else each file that surely is the same is moved into new folders, and no name
 * that the program made is ever met.
 * @module
 */
import { FsTrouble } from "../host/files.ts";
import { type Copied, type Copies, isSame } from "./copies.ts";
import { type CopyFiles, statOf } from "./copy_files.ts";

/** Copies as they were collected. */
export interface Earlier {
  readonly copies: Copies;
  /** Set where all surely is as it was and nothing is there beside, or where nothing ran. */
  readonly untouched: boolean;
}

/** Where copies are made. Every method but `finish` is called once for a path at most. */
export interface Ground {
  /** The folder of the generation. */
  readonly place: string;
  /** The earlier copy of this origin, which now stands at its path; undefined if it must be made. */
  take(path: string, origin: string | undefined): Copied | undefined;
  /** Makes a folder, or keeps it. */
  folder(path: string): void;
  /** Takes away what nobody asked for. */
  finish(): void;
  /** Whether anything was changed here; copying tells what it made itself. */
  changed(): boolean;
}

/** Makes the ground of one generation. `fresh` is the folder of a new one; its parent is there. */
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
        // INVARIANT: what is the same is this very file, as it was copied, whatever links and
        // folders the program left on the way to it (test: nothing that a hostile program leaves).
        if (!isSame(was.stat, files.stat(from), copies.sealedMs)) return undefined;
        files.rename(from, to);
      } catch (error) {
        // The program closed a folder, or took it.
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
  /** What stands here and was not asked for yet. */
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
