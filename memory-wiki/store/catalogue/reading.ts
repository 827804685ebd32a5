/**
 * Reads the `raw/sources.jsonl` of a wiki that has no state here: bytes that anyone may have written. Nothing in it is a path
 * that is opened; it only says of files that are there, and of very bytes that they hold, which sources they were.
 * @module
 */
import {
  CATALOGUE_FILE,
  type CatalogueEntry,
  digestOfLine,
  LINE_BYTES,
  tryCatalogueEntry,
} from "./line.ts";
import { eachPiece, type WikiFolder } from "../files/wiki_folder.ts";
import { mixTrust, type Trust } from "../trust_rules.ts";

/** A catalogue above this is not read, bytes. */
const MOST_BYTES = 268_435_456;
/** Lines after these are not read. */
const MOST_LINES = 1_000_000;
/** Versions that one file may be. */
const MOST_VERSIONS = 1_000;
const LF = 10;

/** What was read. */
export interface ReadCatalogue {
  /** What was passed over, sentences. */
  readonly told: readonly string[];
  /** The versions that a file with these bytes was, each as its last line has it. */
  versions(raw: string, digest: string): readonly CatalogueEntry[];
  /** The worst that any line says of these bytes. */
  trust(digest: string): Trust | undefined;
  /** Whether some version says that its text lies there. */
  isText(path: string): boolean;
}

/** Reads the catalogue, as far as it speaks of digests that begin with one of `prefixes` (12 characters each). */
export function readCatalogue(folder: WikiFolder, prefixes: ReadonlySet<string>): ReadCatalogue {
  const byFile = new Map<string, Map<string, CatalogueEntry>>();
  const owner = new Map<string, string>();
  const trusts = new Map<string, Trust>();
  const texts = new Set<string>();
  const told: string[] = [];
  let [lines, strange, left] = [0, 0, 0];

  function take(line: string | undefined): void {
    lines += 1;
    const digest = line === undefined ? undefined : digestOfLine(line);
    if (lines > MOST_LINES) left += 1;
    else if (line === undefined || digest === undefined) strange += 1;
    else if (prefixes.has(digest.slice(0, 12))) {
      const entry = tryCatalogueEntry(line);
      if (entry === undefined) strange += 1;
      else note(entry);
    }
  }

  function note(entry: CatalogueEntry): void {
    const { digest, raw, key, version } = entry;
    const worse = trusts.get(digest);
    trusts.set(digest, worse === undefined ? mixTrust(entry) : mixTrust(worse, entry));
    const [file, name] = [`${digest} ${raw}`, `${version} ${key}`];
    const owned = owner.get(name);
    const versions = byFile.get(file) ?? new Map<string, CatalogueEntry>();
    // INVARIANT: the first line of a version says which bytes it is; a later one cannot move it to others.
    if ((owned ?? file) !== file || (owned === undefined && versions.size >= MOST_VERSIONS)) {
      left += 1;
      return;
    }
    owner.set(name, file);
    versions.set(name, entry);
    byFile.set(file, versions);
    texts.add(entry.text);
  }

  const found = folder.expect(CATALOGUE_FILE);
  if (found !== undefined && found.bytes > MOST_BYTES) {
    told.push(`${CATALOGUE_FILE} has more than ${MOST_BYTES} bytes and was not read`);
  } else if (found !== undefined) {
    eachLine(folder, take);
  }
  if (strange > 0) told.push(`${strange} lines of ${CATALOGUE_FILE} are no entries`);
  if (left > 0) told.push(`${left} lines of ${CATALOGUE_FILE} were passed over`);
  return Object.freeze<ReadCatalogue>({
    told,
    versions: (raw, digest) => [...byFile.get(`${digest} ${raw}`)?.values() ?? []],
    trust: (digest) => trusts.get(digest),
    isText: (path) => texts.has(path),
  });
}

/** Gives each line without its line feed; undefined for one that is too long or no UTF-8. */
function eachLine(folder: WikiFolder, take: (line: string | undefined) => void): void {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const kept = new Uint8Array(LINE_BYTES);
  let size = 0;
  const add = (part: Uint8Array): void => {
    if (size + part.length <= LINE_BYTES) kept.set(part, size);
    size += part.length;
  };
  const end = (): void => {
    if (size === 0) return;
    take(size > LINE_BYTES ? undefined : tryDecode(decoder, kept.subarray(0, size)));
    size = 0;
  };
  eachPiece(folder.open(CATALOGUE_FILE), (piece) => {
    let from = 0;
    for (let at = piece.indexOf(LF); at !== -1; at = piece.indexOf(LF, from)) {
      add(piece.subarray(from, at));
      end();
      from = at + 1;
    }
    add(piece.subarray(from));
  });
  end();
}

function tryDecode(decoder: TextDecoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
