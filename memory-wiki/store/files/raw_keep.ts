/** Names of raw files, and immutable storage of bytes under them. @module */
import { createHash } from "node:crypto";
import type { Digest } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { SourceKind } from "../../../contracts/memory/mod.ts";
import { eachPiece, type WikiFolder } from "./wiki_folder.ts";

/** Raw files are immutable. */
const READ_ONLY = 0o444;

/** SHA-256 of a file in hex; undefined if missing. */
export function digestOfFile(folder: WikiFolder, path: string): string | undefined {
  const file = folder.tryOpen(path);
  if (file === undefined) return undefined;
  const hash = createHash("sha256");
  eachPiece(file, (piece) => hash.update(piece));
  return hash.digest("hex");
}

/** Bytes to store in raw/. */
export interface RawFile {
  /** Candidate names in order. */
  readonly names: readonly string[];
  readonly bytes: Uint8Array;
  readonly digest: string;
  /** Whether other bytes under a name belong to another source, so that the name is skipped. */
  readonly known: (path: string, digest: string) => boolean;
}

/** The place of bytes in raw/. */
export interface RawPlace {
  /** `raw/NAME` */
  readonly path: string;
  /** The bytes, if not stored yet. */
  readonly missing?: Uint8Array;
}

/**
 * Finds the place for bytes; an existing file with them is kept.
 * @throws Fault `storeCorrupt` for an altered file, `refused` for links
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

/** Writes missing files durably, then renames them. @throws Fault `storeFull`, `refused` */
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

// Safe names for raw files: `SLUG.DIGEST12.EXT`.

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

/** UTF-8 bytes of a slug. */
const SLUG_BYTES = 80;
/** File names that some systems reserve. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
const encoder = new TextEncoder();

/** Letters and digits of any script, everything else as `-`. */
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

/** Stem and extension of the last segment of a key (a path or URL). */
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

/** Candidate names for a source's raw bytes, in order. */
export function rawNames(
  source: { readonly key: string; readonly kind: SourceKind },
  digest: Digest,
): readonly string[] {
  const { stem, extension } = lastPart(source.key);
  // A `.txt` behind the extension marks a text form.
  const end = extension === "" ? EXTENSIONS[source.kind] : extension;
  const slug = slugOf(stem);
  return [12, 24, 64].map((length) => `${slug}.${digest.slice(0, length)}.${end}`);
}

/** Candidate names for its text form. */
export function textNames(raw: string, textDigest: Digest): readonly string[] {
  return [`${raw}.txt`, `${raw}.${textDigest.slice(0, 12)}.txt`, `${raw}.${textDigest}.txt`];
}

/** Parses the name of a raw file; undefined for other names. */
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
