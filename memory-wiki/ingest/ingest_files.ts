/** Ingests local files as sources: read, convert to text, split into passages, store. @module */
import { mixColour, mixLabel } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { type SourceKind, TEXT_KINDS, type WikiSource } from "../../contracts/memory/mod.ts";
import type {
  IngestFiles,
  IngestProgress,
  IngestReport,
  ParseAsk,
  Parsed,
} from "../../contracts/wire/mod.ts";
import { asJson } from "../../port/as_json.ts";
import { sha256Hex } from "../../port/digest.ts";
import { chunkText, encodingOf, oldTextOf, textFormOf } from "../markdown/mod.ts";
import type { OpenWiki } from "../ops/op.ts";
import { termsOf } from "../search/terms.ts";
import { mixTrust } from "../store/trust_rules.ts";
import type { NewChunk, NewSource, SourceTable } from "../store/wiki_store.ts";
import { type FileFacts, makeSeenFiles, type SeenFiles } from "./source_reader.ts";

type Kept = Awaited<ReturnType<SourceTable["addAll"]>>[number];
type File = IngestFiles["files"][number];

interface Ingest {
  readonly wiki: OpenWiki;
  readonly ask: IngestFiles;
  readonly seen: SeenFiles;
  /** Options that the memo compares beside the file. */
  readonly asked: string;
}

/** A file whose source waits for the next transaction. */
interface Waiting {
  readonly file: File;
  readonly facts: FileFacts;
  readonly source: NewSource;
  readonly notes: readonly string[];
}

/** Files per ingest whose notes are reported. */
const MAX_NOTED = 200;
/** Limits of one transaction. */
const BATCH = { files: 64, bytes: 8_000_000 };

/**
 * Ingests files one after another. Unreadable files are reported and do not stop the rest. Stored sources
 * survive a kill, and the same request later does only what is missing.
 */
export async function ingestFiles(wiki: OpenWiki, ask: IngestFiles): Promise<IngestReport> {
  const seen = makeSeenFiles(wiki.store.documents, wiki.powers.now);
  // The suffix invalidates memos from before content trust was looked up, so that those files are read again.
  const asked = [ask.label, ask.colour, ask.owner, ask.expiresAt ?? "", "known"].join("\n");
  const ingest: Ingest = { wiki, ask, seen, asked };
  const count = { new: 0, changed: 0, unchanged: 0 };
  const failed: { name: string; why: string }[] = [];
  const noted: { name: string; notes: readonly string[] }[] = [];
  const tell = (fate: IngestProgress): void => {
    if (fate.did === "failed") failed.push({ name: fate.name, why: fate.why ?? "" });
    else count[fate.did]++;
    const { name, notes } = fate;
    if (notes !== undefined && noted.length < MAX_NOTED) noted.push({ name, notes });
    wiki.powers.tell("progress", asJson(fate));
  };
  let waiting: Waiting[] = [];
  const flush = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    for (const fate of await keep(ingest, batch)) tell(fate);
  };
  for (const file of ask.files) {
    // The same key twice in a request makes two versions, in order.
    if (waiting.some((each) => each.file.key === file.key)) await flush();
    const found = await lookAt(ingest, file);
    if ("did" in found) tell(found);
    else waiting.push(found);
    const bytes = waiting.reduce((sum, { source }) => sum + source.raw.length, 0);
    if (waiting.length >= BATCH.files || bytes >= BATCH.bytes) await flush();
  }
  await flush();
  seen.save();
  const report = {
    added: count.new,
    changed: count.changed,
    unchanged: count.unchanged,
    failed,
    ...(noted.length === 0 ? {} : { noted }),
  };
  if (count.new + count.changed + failed.length > 0) logIngest(ingest, report);
  return report;
}

/** Stores a batch in one transaction; if that fails, each file separately, so that one does not stop the rest. */
async function keep(
  { wiki: { store }, seen, asked }: Ingest,
  batch: readonly Waiting[],
): Promise<readonly IngestProgress[]> {
  if (batch.length === 0) return [];
  const fateOf = ({ file, facts, notes }: Waiting, kept: Kept): IngestProgress => {
    seen.note(file.key, facts, asked, kept.source.id);
    return { name: file.name, did: kept.did, ...(notes.length === 0 ? {} : { notes }) };
  };
  try {
    const kept = await store.sources.addAll(batch.map(({ source }) => source));
    return batch.flatMap((each, n) => {
      const fate = kept[n];
      return fate === undefined ? [] : [fateOf(each, fate)];
    });
  } catch (error) {
    if (isOfTheWiki(error) || batch.length === 1) {
      return batch.map((each) => failure(each.file, error));
    }
    const fates: IngestProgress[] = [];
    for (const each of batch) {
      try {
        const [kept] = await store.sources.addAll([each.source]);
        if (kept !== undefined) fates.push(fateOf(each, kept));
      } catch (again) {
        fates.push(failure(each.file, again));
      }
    }
    return fates;
  }
}

/** A full disk or a broken database concerns the wiki, not the file; bugs are rethrown. */
function isOfTheWiki(error: unknown): boolean {
  return !(error instanceof Fault) || error.code === "storeFull" || error.code === "storeCorrupt";
}

function failure(file: File, error: unknown): IngestProgress {
  if (isOfTheWiki(error)) throw error;
  const why = error instanceof Fault ? error.message : "";
  return { name: file.name, did: "failed", why };
}

function logIngest({ wiki, ask }: Ingest, report: IngestReport): void {
  const { added, changed, unchanged, failed } = report;
  wiki.store.log.append({
    kind: "ingest",
    by: ask.by,
    text: `${added} new, ${changed} changed, ${unchanged} unchanged, ${failed.length} failed ` +
      `(${ask.label}, ${ask.colour})`,
  });
}

/** The source to store, or the result if there is nothing to store. */
async function lookAt(ingest: Ingest, file: File): Promise<Waiting | IngestProgress> {
  const { wiki, ask, seen, asked } = ingest;
  const { store, powers } = wiki;
  try {
    const current = store.sources.current(file.key);
    const found = await powers.reader.look(file.path);
    if (current !== undefined && seen.known(file.key, found, asked) === current.id) {
      return { name: file.name, did: "unchanged" };
    }
    const { bytes, facts } = await powers.reader.read(file.path, ask.maxBytes);
    const digest = sha256Hex(bytes);
    const trust = mixTrust(ask, await powers.known(digest), file.claimed ?? ask);
    if (
      current !== undefined && current.digest === digest && isAsAsked(current, { ...ask, ...trust })
    ) {
      seen.note(file.key, facts, asked, current.id);
      return { name: file.name, did: "unchanged" };
    }
    const made = await newSource(wiki, { ask: { ...ask, ...trust }, file, bytes });
    return { file, facts, ...made };
  } catch (error) {
    return failure(file, error);
  }
}

/** A source keeps its lower trust and higher confidentiality: a request for better ones changes nothing. */
function isAsAsked(source: WikiSource, ask: IngestFiles): boolean {
  return mixLabel(source.label, ask.label) === source.label &&
    mixColour(source.colour, ask.colour) === source.colour &&
    source.owner === ask.owner && source.expiresAt === ask.expiresAt;
}

async function newSource(
  { powers }: OpenWiki,
  { ask, file, bytes }: {
    readonly ask: IngestFiles;
    readonly file: File;
    readonly bytes: Uint8Array;
  },
): Promise<Pick<Waiting, "source" | "notes">> {
  const { key, kind, name, origin } = file;
  const { label, colour, owner, by, expiresAt } = ask;
  const { title, text, chunks, parser, notes } = await textOf(powers.parse, { kind, name, bytes });
  const source = {
    ...{ key, kind, title, raw: bytes, label, colour, owner, chunks },
    provenance: {
      ...{ origin, by, retrievedAt: powers.now() },
      ...(parser === undefined ? {} : { parser }),
    },
    ...(text === undefined ? {} : { text }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return { source, notes };
}

// Text and passages of an ingested file.

/** Bytes of a parsed document; see ParseAsk. */
const MAX_PARSED = 32 * 1_048_576;

interface SourceText {
  readonly title: string;
  readonly chunks: readonly NewChunk[];
  /** Undefined if the bytes are the text. */
  readonly text: Uint8Array | undefined;
  /** The parser, `NAME@VERSION`. */
  readonly parser: string | undefined;
  /** What was left out, or how an uncertain text was read. */
  readonly notes: readonly string[];
}

interface SourceBytes {
  readonly kind: SourceKind;
  readonly name: string;
  readonly bytes: Uint8Array;
}

interface TextForm {
  readonly title: string;
  readonly text: Uint8Array | undefined;
  readonly parser: string | undefined;
  readonly notes: readonly string[];
}

/**
 * Converts bytes to text where necessary, and splits it.
 * @throws Fault `invalidInput` for a file without text, `tooLarge` for a document above 32 MiB, and those of `parse`
 */
async function textOf(
  parse: (ask: ParseAsk) => Promise<Parsed>,
  source: SourceBytes,
): Promise<SourceText> {
  const { kind, name, bytes } = source;
  const form = TEXT_KINDS.has(kind) ? plainForm(source) : await parsedForm(parse, source);
  const title = form.title === "" ? name : form.title;
  const { chunks, title: found } = chunkText(kind, form.text ?? bytes, { termsOf, title });
  // A parser finds the document's own title; plain text only has a first line.
  return { ...form, chunks, title: form.title === "" ? found : form.title };
}

async function parsedForm(
  parse: (ask: ParseAsk) => Promise<Parsed>,
  { kind, name, bytes }: SourceBytes,
): Promise<TextForm> {
  if (bytes.length > MAX_PARSED) {
    throw new Fault(
      "tooLarge",
      `Cannot parse ${
        JSON.stringify(name)
      }: it has ${bytes.length} bytes, ${MAX_PARSED} are parsed`,
    );
  }
  const { text, title, parser, notes } = await parse({ kind, name, bytes: bytes.toBase64() });
  if (text.trim() === "") {
    throw new Fault(
      "invalidInput",
      `Cannot take in ${JSON.stringify(name)}: no text was found in it`,
    );
  }
  return { title, parser, notes, text: new TextEncoder().encode(text) };
}

function plainForm({ bytes, name }: SourceBytes): TextForm {
  const encoding = encodingOf(bytes);
  if (encoding === "binary") {
    throw new Fault(
      "invalidInput",
      `Cannot take in ${JSON.stringify(name)}: it is binary, not text`,
    );
  }
  const wide = textFormOf(bytes);
  if (wide !== undefined) {
    return { title: "", notes: [], text: wide, parser: `remit-decode@1 ${encoding}` };
  }
  const old = oldTextOf(bytes);
  if (old.kind === "utf-8") {
    return { title: "", notes: [], text: undefined, parser: undefined };
  }
  if (old.kind === "unknown") {
    throw new Fault(
      "invalidInput",
      `Cannot take in ${
        JSON.stringify(name)
      }: it is no UTF-8, and its letters speak for no other encoding; save it as UTF-8 and ingest it again`,
    );
  }
  const notes = [`It is no UTF-8 and was read as ${old.encoding}${old.sure ? "" : ", a guess"}.`];
  const parser = `remit-decode@2 ${old.encoding}${old.sure ? "" : " (a guess)"}`;
  const text = new TextEncoder().encode(old.text.replaceAll("\0", "\ufffd"));
  return { title: "", notes, text, parser };
}
