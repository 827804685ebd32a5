/** Names of raw files, and immutable bytes written to raw/ under them. @module */
import { createHash } from "node:crypto";
import type { Digest } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { SourceKind } from "../../../contracts/memory/mod.ts";
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

// Harmless names for raw files: `SLUG.DIGEST12.EXT`.

const EXTENSIONS: Readonly<Record<SourceKind, string>> = Object.freeze({
  markdown: "md",
  text: "txt",
  code: "txt",
  csv: "csv",
  json: "json",
  html: "html",
  pdf: "pdf",
  docx: "docx",
  epub: "epub",
  mail: "eml",
});

/** Most of a slug, UTF-8 bytes. */
const SLUG_BYTES = 80;
/** Names that are no file's on some machines, whatever follows the dot. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
const encoder = new TextEncoder();

/** Letters and digits of any script, everything else `-`: no slash, dot, blank, control or direction mark is left. */
function slugOf(name: string): string {
  const words = name.toWellFormed().normalize("NFKC").replace(/[^\p{L}\p{N}\p{M}]+/gu, "-");
  let slug = "";
  let bytes = 0;
  for (const character of words) {
    bytes += encoder.encode(character).length;
    if (bytes > SLUG_BYTES) break;
    slug += character;
  }
  const plain = slug.replace(/^[-\p{M}]+|-+$/gu, "") || "source";
  return RESERVED.test(plain) ? `source-${plain}` : plain;
}

/** The name and extension of the last part of a key (a path or URL), or of the title where it has none. */
function lastPart(key: string): { readonly stem: string; readonly extension: string } {
  const path = key.replace(/[?#].*$/s, "").replace(/[/\\]+$/, "");
  const last = path.slice(
    Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"), path.indexOf(":")) + 1,
  );
  const match = /^(.*)\.([A-Za-z0-9]{1,8})$/s.exec(last);
  return match === null
    ? { stem: last, extension: "" }
    : { stem: match[1] ?? "", extension: (match[2] ?? "").toLowerCase() };
}

/** Names under which a source's raw bytes may lie, in the order in which they are tried. */
export function rawNames(
  source: { readonly key: string; readonly kind: SourceKind },
  digest: Digest,
): readonly string[] {
  const { stem, extension } = lastPart(source.key);
  // `.txt` after the extension is the mark of a text form.
  const end = extension === "" ? EXTENSIONS[source.kind] : extension;
  const slug = slugOf(stem);
  return [12, 24, 64].map((length) => `${slug}.${digest.slice(0, length)}.${end}`);
}

/** Names under which its text form may lie. */
export function textNames(raw: string, textDigest: Digest): readonly string[] {
  return [`${raw}.txt`, `${raw}.${textDigest.slice(0, 12)}.txt`, `${raw}.${textDigest}.txt`];
}

/** What a file of raw/ is called, taken apart; undefined where it is no raw file's name. */
export function readRawName(
  name: string,
): { readonly slug: string; readonly prefix: string; readonly extension: string } | undefined {
  const match =
    /^([\p{L}\p{N}\p{M}-]{1,80})\.([0-9a-f]{12}|[0-9a-f]{24}|[0-9a-f]{64})\.([a-z0-9]{1,8})$/u
      .exec(name);
  if (match === null) return undefined;
  const [, slug = "", prefix = "", extension = ""] = match;
  return { slug, prefix, extension };
}
