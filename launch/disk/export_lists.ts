/**
 * Export lists of wikis on this machine: `remit.json` in a folder labels the files beneath it. Anyone may have written
 * one, so a list only makes a label stricter. docs/decision/0038. Used by mounts.ts and cli/wiki/ingest/files.ts.
 * @module
 */
import { dirname, join } from "node:path";
import {
  EXPORT_LIST,
  EXPORT_LIST_BYTES,
  type ExportClaims,
  parseExportClaims,
  worseClaim,
  WORST_CLAIMS,
} from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { ContentColours } from "../../contracts/memory/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { DiskRead } from "./machine.ts";

/** Most folders above a file that are searched for lists. */
const MAX_ABOVE = 64;

/** The lists; each folder is read once. */
export interface ExportLists {
  /** The strictest claim of the lists in and above this folder about all their files; undefined without a list. */
  over(folder: string): ContentColours | undefined;
  /** The strictest claim of the lists above a file about its content; undefined where no list knows it. */
  ofFile(path: string): ContentColours | undefined;
}

/** Reads lists on demand. Paths are absolute and real. */
export function makeExportLists(disk: Pick<DiskRead, "read">): ExportLists {
  const known = new Map<string, ExportClaims | undefined>();

  const listIn = (folder: string): ExportClaims | undefined => {
    if (!known.has(folder)) known.set(folder, read(join(folder, EXPORT_LIST)));
    return known.get(folder);
  };

  const read = (path: string): ExportClaims | undefined => {
    try {
      const bytes = disk.read(path, { most: EXPORT_LIST_BYTES });
      return bytes === undefined ? undefined : parseExportClaims(bytes);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // A file that is no list, or may not be read, claims nothing.
      return error.code === "tooLarge" ? WORST_CLAIMS : undefined;
    }
  };

  const above = (folder: string): readonly ExportClaims[] => {
    const found: ExportClaims[] = [];
    let at = folder;
    for (let left = MAX_ABOVE; left > 0; left--) {
      const list = listIn(at);
      if (list !== undefined) found.push(list);
      if (dirname(at) === at) break;
      at = dirname(at);
    }
    return found;
  };

  const worst = (claims: readonly (ContentColours | undefined)[]): ContentColours | undefined =>
    claims.reduce<ContentColours | undefined>(
      (a, b) => a === undefined || b === undefined ? a ?? b : worseClaim(a, b),
      undefined,
    );

  return Object.freeze<ExportLists>({
    over: (folder) => worst(above(folder).map(({ all }) => all)),
    ofFile(path) {
      const lists = above(dirname(path));
      if (lists.length === 0) return undefined;
      if (path.endsWith(`/${EXPORT_LIST}`)) return lists[0]?.all;
      try {
        const bytes = disk.read(path);
        if (bytes === undefined) return undefined;
        const digest = sha256Hex(bytes);
        return worst(lists.map((list) => list.of(digest)));
      } catch (error) {
        // A file that may not be read cannot be taken in either.
        if (error instanceof Fault) return undefined;
        throw error;
      }
    },
  });
}
