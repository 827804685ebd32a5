/** Puts immutable bytes into raw/, under a name that holds their digest. @module */
import { createHash } from "node:crypto";
import { Fault } from "../../../contracts/mod.ts";
import { eachPiece, type WikiFolder } from "./wiki_folder.ts";

/** Nobody writes a raw file again. */
const READ_ONLY = 0o444;

/** SHA-256 of a file of the wiki in hex; undefined where there is none. */
export function digestOfFile(folder: WikiFolder, path: string): string | undefined {
  const file = folder.tryOpen(path);
  if (file === undefined) return undefined;
  const hash = createHash("sha256");
  eachPiece(file, (piece) => hash.update(piece));
  return hash.digest("hex");
}

/** Bytes that belong into raw/. */
export interface RawFile {
  /** Names that are tried in their order. */
  readonly names: readonly string[];
  readonly bytes: Uint8Array;
  readonly digest: string;
  /** Whether other bytes under a name are their own there, so that the name is passed over. */
  readonly known: (path: string, digest: string) => boolean;
}

/** Where bytes lie or shall lie. */
export interface RawPlace {
  /** `raw/NAME` */
  readonly path: string;
  /** Set where they are not there yet. */
  readonly missing?: Uint8Array;
}

/**
 * Finds the name for bytes: a file that is there with these bytes is kept.
 * @throws Fault `storeCorrupt` where a file was altered, `refused` for links.
 */
export function placeOfRaw(folder: WikiFolder, { names, bytes, digest, known }: RawFile): RawPlace {
  for (const name of names) {
    const path = `raw/${name}`;
    const found = digestOfFile(folder, path);
    if (found === undefined) return { path, missing: bytes };
    if (found === digest) return { path };
    if (!known(path, found)) {
      throw new Fault(
        "storeCorrupt",
        `Cannot keep "${path}": a file of that name is there with other bytes; restore or remove it`,
      );
    }
  }
  throw new Fault("storeCorrupt", `Cannot keep "raw/${names[0]}": every name is taken`);
}

/** Writes what is missing, to the disk, and gives each its name. @throws Fault `storeFull`, `refused`. */
export async function writeRaw(folder: WikiFolder, places: readonly RawPlace[]): Promise<void> {
  const files = places.flatMap(({ path, missing }) =>
    missing === undefined ? [] : [{ path, bytes: missing }]
  );
  if (files.length === 0) return;
  const staged = await folder.stageAll(files, READ_ONLY);
  for (const [index, { path }] of files.entries()) {
    const from = staged[index];
    if (from !== undefined) folder.place(from, path);
  }
  folder.syncFolder("raw");
}
