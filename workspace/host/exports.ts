/**
 * Exports of wikis in a mount: the list beside their files says what each carries, by digest, and can
 * only make it worse. A folder is looked at once; a list that is there, at each call again.
 * @module
 */
import {
  EXPORT_LIST,
  EXPORT_LIST_BYTES,
  type ExportClaims,
  parseExportClaims,
  WORST_CLAIMS,
} from "../../contracts/export_claims.ts";
import { wholeOf } from "./content.ts";
import { type FileStat, FsTrouble, type ReadFiles } from "./files.ts";
import type { Place } from "./judge.ts";
import { CLEAN, mix, type Taint } from "./taint.ts";

/** Knows the lists of the mounts. */
export interface Exports {
  /** What the lists above a file, within its mount, say of its content. */
  of(place: Place, digest: string): Taint;
  /** The worst of what a folder's own list says; of a folder without one, nothing. */
  all(folder: string): Taint;
  /** A list was met in this folder: it may have come since the folder was looked at. */
  met(folder: string): void;
}

interface Known {
  readonly mark: string;
  readonly claims: ExportClaims;
}

/** Makes it: nothing is known. */
export function makeExports(files: ReadFiles): Exports {
  const known = new Map<string, Known | null>();

  const look = (folder: string): ExportClaims | undefined => {
    const before = known.get(folder);
    if (before === null) return undefined;
    const path = `${folder}/${EXPORT_LIST}`;
    let found: Known | null = null;
    try {
      const stat = files.stat(path);
      // A link leads to another folder's list.
      if (stat?.kind === "file") {
        const mark = markOf(stat);
        if (before?.mark === mark) return before.claims;
        const claims = read(path, stat);
        if (claims !== undefined) found = { mark, claims };
      }
    } catch (error) {
      if (!(error instanceof FsTrouble)) throw error;
    }
    known.set(folder, found);
    return found?.claims;
  };

  const read = (path: string, stat: FileStat): ExportClaims | undefined => {
    if (stat.bytes > EXPORT_LIST_BYTES) return WORST_CLAIMS;
    const file = files.open(path);
    try {
      return parseExportClaims(wholeOf(file, stat.bytes));
    } finally {
      file.close();
    }
  };

  return Object.freeze<Exports>({
    of({ mount, path }, digest) {
      let taint = CLEAN;
      for (let depth = path.parts.length - 1; depth >= 0; depth--) {
        const claims = look([mount.root, ...path.parts.slice(0, depth)].join("/"));
        const isList = depth === path.parts.length - 1 && path.parts[depth] === EXPORT_LIST;
        // The list itself tells of all its files.
        const claim = isList ? claims?.all : claims?.of(digest);
        if (claim !== undefined) taint = mix(taint, claim);
      }
      return taint;
    },
    all: (folder) => look(folder)?.all ?? CLEAN,
    met: (folder) => void (known.get(folder) === null && known.delete(folder)),
  });
}

function markOf({ dev, ino, bytes, modifiedMs, changedMs }: FileStat): string {
  return [dev, ino, bytes, modifiedMs, changedMs].join(":");
}
