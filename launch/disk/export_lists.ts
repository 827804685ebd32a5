/**
 * Lists of wikis' exports on this machine: what `remit.json` in a folder says of the files beneath it.
 * Anyone may have written one, so that it only ever makes a file worse. docs/decision/0038.
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

/** Folders above a file that are looked at. */
const MAX_ABOVE = 64;

/** The lists, each folder looked at once. */
export interface ExportLists {
  /** The worst that the lists in this folder and above it say of all their files; undefined where there is none. */
  over(folder: string): ContentColours | undefined;
  /** What the lists above a file say of its content; undefined where none knows it. */
  ofFile(path: string): ContentColours | undefined;
}

/** Makes them. Paths are absolute and real. */
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
      // Something else of that name, or what may not be read, is no list.
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
        // What may not be read is not taken in.
        if (error instanceof Fault) return undefined;
        throw error;
      }
    },
  });
}
