/**
 * Takes in raw files of a wiki whose state is missing, because it was moved or cloned: nobody vouches for them, so
 * they are YELLOW at best and internal at least. What the catalogue beside them says of their origin is taken, of
 * their colour and label only where it makes them worse. Its pages come in as hand edits do.
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

/** A raw file above this is left alone. */
const MAX_BYTES = 1_000_000_000;
/** Bytes that are taken in at once. */
const BATCH_BYTES = 33_554_432;
/** What is wrong with one file, and stops nothing else. */
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

/** What lies in raw/, and what its catalogue says of it. */
interface Lying {
  readonly inside: Inside;
  readonly names: ReadonlySet<string>;
  readonly catalogue: ReadCatalogue;
}

/** Takes in what lies in raw/; gives sentences about what it did. */
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
    // A text form comes in with its raw file.
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

/** The sources that a raw file was, or the one that it is from now on; or why it is none. @throws Fault of {@link HARMLESS} */
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

/** The text that an entry names, where it may be one of this file; undefined where it is none. */
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

/** A version as the catalogue has it, but never better than a file that nobody vouches for. */
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
    // The name as a key gives the file's own name again.
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

/** Keeps the log of a wiki whose state is missing: this state's record begins anew. */
export function setOldLogAside(inside: Inside): readonly string[] {
  const { db, folder } = inside;
  const digest = digestOfFile(folder, LOG_FILE);
  if (digest === undefined || db.get("SELECT 1 AS found FROM log LIMIT 1") !== undefined) return [];
  const aside = `log.${digest.slice(0, 12)}.md`;
  folder.place(LOG_FILE, aside);
  return [`the log of before was set aside as ${aside}`];
}

// Reads the `raw/sources.jsonl` of a wiki that has no state here: bytes that anyone may have
// written. Nothing in it is a path that is opened; it only says of files that are there, and of
// very bytes that they hold, which sources they were.

/** A catalogue above this is not read, bytes. */
const MAX_CATALOGUE_BYTES = 268_435_456;
/** Lines after these are not read. */
const MAX_LINES = 1_000_000;
/** Versions that one file may be. */
const MAX_VERSIONS = 1_000;
const LF = 10;

/** What was read. */
interface ReadCatalogue {
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
    // INVARIANT: the first line of a version says which bytes it is; a later one cannot move it to others.
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
