/**
 * Adopts the raw files of a wiki whose state is missing because it was moved or cloned. Nobody vouches for
 * them, so they are at best YELLOW, and at least internal. The catalogue beside them supplies their origin;
 * its colour and label can only lower the trust. Pages are imported like hand edits. Used by
 * memory-wiki/store/open.ts.
 * @module
 */
import { Fault, type FaultCode } from "../../../contracts/base/mod.ts";
import { type SourceKind, TEXT_KINDS } from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { digestOfFile, readRawName } from "../files/raw_keep.ts";
import { eachPiece, type WikiFolder } from "../files/wiki_folder.ts";
import { type Inside, recordedTrust } from "../inside.ts";
import { type FoundSource, makeSourceIntake } from "../source/intake.ts";
import { adoptedTrust, mixTrust, type Trust } from "../trust_rules.ts";
import { LOG_FILE } from "../wiki_log.ts";
import {
  CATALOGUE_FILE,
  type CatalogueEntry,
  digestOfLine,
  LINE_BYTES,
  tryCatalogueEntry,
} from "./catalogue.ts";

/** Bytes above which a raw file is left alone. */
const MAX_BYTES = 1_000_000_000;
/** Bytes per transaction. */
const BATCH_BYTES = 33_554_432;
/** Faults that concern one file only. */
const HARMLESS: ReadonlySet<FaultCode> = new Set<FaultCode>(["invalidInput", "tooLarge"]);
const KINDS: Readonly<Record<string, SourceKind>> = Object.freeze({
  md: "markdown",
  markdown: "markdown",
  txt: "text",
  csv: "csv",
  tsv: "csv",
  json: "json",
  html: "html",
  htm: "html",
  pdf: "pdf",
  docx: "docx",
  epub: "epub",
  eml: "mail",
});

/** The files in raw/ and their catalogue. */
interface Lying {
  readonly inside: Inside;
  readonly names: ReadonlySet<string>;
  readonly catalogue: ReadCatalogue;
}

/** Adopts the files in raw/; returns sentences about the result. */
export async function adoptRawFiles(inside: Inside): Promise<readonly string[]> {
  const { folder } = inside;
  const intake = makeSourceIntake(inside);
  const names = new Set(
    folder.list("raw").filter(({ kind }) => kind === "file").map(({ name }) => name),
  );
  const prefixes = [...names].map((name) => readRawName(name)?.prefix.slice(0, 12) ?? "");
  const catalogue = readCatalogue(folder, new Set(prefixes));
  const told = [...catalogue.told];
  let batch: FoundSource[] = [];
  let [size, count, known] = [0, 0, 0];
  const flush = async (): Promise<void> => {
    await intake.addAll(batch);
    batch = [];
    size = 0;
  };
  for (const name of [...names].sort()) {
    // A text form is adopted with its raw file.
    const ofOther = (name.endsWith(".txt") && names.has(name.slice(0, -4))) ||
      (readRawName(name) === undefined && catalogue.isText(`raw/${name}`));
    if (ofOther || `raw/${name}` === CATALOGUE_FILE) continue;
    try {
      const sources = adopted({ inside, names, catalogue }, name);
      if (typeof sources === "string") {
        told.push(`raw/${name} ${sources} and was left alone`);
        continue;
      }
      count += 1;
      if (sources.some(({ found }) => found.version !== undefined)) known += 1;
      batch.push(...sources);
      size += sources.reduce((sum, { raw, text }) => sum + raw.length + (text?.length ?? 0), 0);
    } catch (error) {
      if (!(error instanceof Fault) || !HARMLESS.has(error.code)) throw error;
      told.push(`raw/${name} was left alone: ${error.message}`);
    }
    if (size > BATCH_BYTES) await flush();
  }
  await flush();
  if (count > 0) {
    told.push(
      `${count} raw files were adopted, YELLOW and internal at best; ${CATALOGUE_FILE} knew ${known}`,
    );
  }
  return told;
}

/**
 * The sources of a raw file, by the catalogue or as a new one; or why there is none. @throws Fault of {@link
 * HARMLESS}
 */
function adopted(lying: Lying, name: string): readonly FoundSource[] | string {
  const { inside: { folder }, catalogue } = lying;
  const read = readRawName(name);
  if (read === undefined) return "is no raw file's name";
  const raw = folder.read(`raw/${name}`, MAX_BYTES) ?? new Uint8Array(0);
  const digest = sha256Hex(raw);
  if (!digest.startsWith(read.prefix)) return "does not hold what its name says";
  const versions = catalogue.versions(`raw/${name}`, digest).flatMap((entry) => {
    const text = textOf(lying, name, entry);
    return text === undefined ? [] : [{ entry, text: entry.text === entry.raw ? undefined : text }];
  });
  if (versions.length > 0) {
    return versions.map(({ entry, text }) => asBefore(lying, { entry, raw, text }));
  }
  const made = asNew(lying, { name, raw, digest, ...read });
  return typeof made === "string" ? made : [made];
}

/** The text that an entry names, if it belongs to this file; undefined otherwise. */
function textOf(
  { inside: { folder }, names }: Lying,
  name: string,
  { text, raw, kind }: CatalogueEntry,
): Uint8Array | undefined {
  if (text === raw) return TEXT_KINDS.has(kind) ? new Uint8Array(0) : undefined;
  const own = text.slice("raw/".length);
  const isForm = text.startsWith(`raw/${name}.`) && names.has(own) &&
    /^(?:\.[0-9a-f]{12}|\.[0-9a-f]{64})?\.txt$/.test(own.slice(name.length));
  return isForm ? folder.read(text, MAX_BYTES) : undefined;
}

/** A version by the catalogue, but never more trusted than an unknown file. */
function asBefore(
  { inside, catalogue }: Lying,
  { entry, raw, text }: { entry: CatalogueEntry; raw: Uint8Array; text: Uint8Array | undefined },
): FoundSource {
  const { key, kind, title, version, state, origin, by, retrievedAt, parser, expiresAt } = entry;
  const current = state === "current";
  return {
    ...{ key, kind, title, raw },
    ...(text === undefined ? {} : { text }),
    ...adoptedTrust(recordedTrust(inside.db, entry.digest), catalogue.trust(entry.digest)),
    owner: "adopted",
    provenance: { origin, by, retrievedAt, ...(parser === undefined ? {} : { parser }) },
    ...(expiresAt === undefined ? {} : { expiresAt }),
    chunks: current ? inside.chunk?.(text ?? raw, kind, title).chunks ?? [] : [],
    found: { raw: entry.raw, text: entry.text, version, state },
  };
}

function asNew(
  { inside, names, catalogue }: Lying,
  { name, raw, digest, slug, extension }: {
    readonly name: string;
    readonly raw: Uint8Array;
    readonly digest: string;
    readonly slug: string;
    readonly extension: string;
  },
): FoundSource | string {
  const { db, folder, now } = inside;
  const kind = KINDS[extension] ?? "code";
  const text = names.has(`${name}.txt`) ? folder.read(`raw/${name}.txt`, MAX_BYTES) : undefined;
  if (text === undefined && !TEXT_KINDS.has(kind)) {
    return "has no text beside it (ingest it again)";
  }
  const made = inside.chunk?.(text ?? raw, kind, name);
  return {
    // This key leads to the same file name again.
    key: `adopted:${slug}.${extension}#${digest.slice(0, 12)}`,
    kind,
    title: (made?.title ?? "").slice(0, 512).toWellFormed() || slug,
    raw,
    ...(text === undefined ? {} : { text }),
    ...adoptedTrust(recordedTrust(db, digest), catalogue.trust(digest)),
    owner: "adopted",
    provenance: { origin: `raw/${name}`, by: "operator", retrievedAt: now() },
    chunks: made?.chunks ?? [],
    found: {
      raw: `raw/${name}`,
      text: `raw/${name}${text === undefined ? "" : ".txt"}`,
      state: "current",
    },
  };
}

/** Renames the log of a wiki whose state is missing, since this state's log starts anew. */
export function setOldLogAside(inside: Inside): readonly string[] {
  const { db, folder } = inside;
  const digest = digestOfFile(folder, LOG_FILE);
  if (digest === undefined || db.get("SELECT 1 AS found FROM log LIMIT 1") !== undefined) return [];
  const aside = `log.${digest.slice(0, 12)}.md`;
  folder.place(LOG_FILE, aside);
  return [`the log of before was set aside as ${aside}`];
}

// Parses the `raw/sources.jsonl` of a wiki without state. Anyone may have written it: no path in it is
// opened, and an entry only applies to an existing file with exactly its bytes.

/** Bytes above which a catalogue is not read. */
const MAX_CATALOGUE_BYTES = 268_435_456;
/** Lines read. */
const MAX_LINES = 1_000_000;
/** Versions per file. */
const MAX_VERSIONS = 1_000;
const LF = 10;

/** A parsed catalogue. */
interface ReadCatalogue {
  /** What was skipped, as sentences. */
  readonly told: readonly string[];
  /** The versions of a file with these bytes, each by its last line. */
  versions(raw: string, digest: string): readonly CatalogueEntry[];
  /** The worst trust that any line states for these bytes. */
  trust(digest: string): Trust | undefined;
  /** Whether some version has its text at this path. */
  isText(path: string): boolean;
}

/** Parses the entries whose digests begin with one of `prefixes` (12 characters each). */
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
    if (lines > MAX_LINES) left += 1;
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
    // INVARIANT: the first line of a version determines its bytes; a later line cannot change them.
    if ((owned ?? file) !== file || (owned === undefined && versions.size >= MAX_VERSIONS)) {
      left += 1;
      return;
    }
    owner.set(name, file);
    versions.set(name, entry);
    byFile.set(file, versions);
    texts.add(entry.text);
  }

  const found = folder.expect(CATALOGUE_FILE);
  if (found !== undefined && found.bytes > MAX_CATALOGUE_BYTES) {
    told.push(`${CATALOGUE_FILE} has more than ${MAX_CATALOGUE_BYTES} bytes and was not read`);
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

/** Yields each line without its newline; undefined for one that is too long or not UTF-8. */
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
