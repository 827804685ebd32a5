/** Takes files and folders into a wiki in batches; marks sources whose files are gone. @module */
import { basename } from "node:path";
import type { Colour, Label } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { IngestFiles, IngestProgress, IngestReport } from "../../../contracts/wire/mod.ts";
import { makeExportLists } from "../../../launch/disk/export_lists.ts";
import {
  readExtract,
  readGone,
  readProgress,
  readReport,
} from "../../../memory-wiki/host/answers.ts";
import { type OpenWiki, openWiki } from "../command.ts";
import { knownWikis, makeWikiPlace, type WikiPlace, type WikiWhere } from "../place.ts";
import { kindOfName, looksLikeText } from "../../../memory-wiki/host/ingest/kinds.ts";
import { neverFault, type Walk, walkFolder } from "../../../memory-wiki/host/ingest/walk.ts";

/** Label, colour, owner and expiry (milliseconds since 1970) of the sources of one command. */
export interface Trust {
  readonly label: Label;
  readonly colour: Colour;
  readonly owner: string;
  readonly expiresAt?: number;
}

/** Hooks of an ingest: stopping between batches, budgets, progress. */
export interface OnIngest {
  readonly signal?: AbortSignal;
  /** Called before a batch; rejects when a budget is exhausted. Its result is called after it. */
  begin?(
    batch: { readonly files: number; readonly bytes: number },
  ): Promise<() => Promise<void>>;
  onFile?(
    file: Pick<IngestProgress, "name">,
    of: { readonly done: number; readonly all: number },
  ): void;
}

/** The outcome for one argument of an ingest. */
export interface Ingested {
  /** The key of a single source, or the common prefix of the keys of a folder's files. */
  readonly of: { readonly key: string } | { readonly prefix: string };
  readonly report: IngestReport;
  readonly walk?: Walk;
  /** Keys of sources whose files are gone. */
  readonly removed: readonly string[];
}

/** Size of one document in bytes, at most. */
export const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;
const MAX_BATCH_FILES = 500;
const MAX_BATCH_BYTES = 64 * 1024 * 1024;
const EMPTY_REPORT: IngestReport = Object.freeze({
  added: 0,
  changed: 0,
  unchanged: 0,
  failed: [],
});

/** Stands for an unreadable file: a NUL byte is no text. */
const NO_TEXT = new Uint8Array(1);

type Taken = IngestFiles["files"][number];

/** The key of a file's source. */
const fileKey = (path: string): string => `file:${path}`;

/** The common prefix of the keys of all files beneath a folder. */
const folderKey = (path: string): string => fileKey(path === "/" ? "/" : `${path}/`);

/** What the list of an earlier export claims about a file, if it names the file. */
const claimOf = (claimed: Taken["claimed"]): Pick<Taken, "claimed"> =>
  claimed === undefined ? {} : { claimed };

/** Two reports as one. */
export function addReports(a: IngestReport, b: IngestReport): IngestReport {
  return {
    added: a.added + b.added,
    changed: a.changed + b.changed,
    unchanged: a.unchanged + b.unchanged,
    failed: [...a.failed, ...b.failed],
    noted: [...a.noted ?? [], ...b.noted ?? []],
  };
}

/** Passes documents to the wiki's process in batches. Throws `cancelled` between batches. */
async function ingestBatches(
  wiki: OpenWiki,
  files: readonly (Taken & { readonly bytes: number })[],
  trust: Trust,
  on: OnIngest = {},
): Promise<IngestReport> {
  let report = EMPTY_REPORT;
  let done = 0;
  wiki.link.onTell((op, body) => {
    if (op !== "progress") return;
    done += 1;
    on.onFile?.(readProgress(body), { done, all: files.length });
  });
  const isStopped = (): boolean => on.signal?.aborted === true;
  for (let at = 0; at < files.length;) {
    if (isStopped()) throw stopped();
    const batch: Taken[] = [];
    let bytes = 0;
    for (; at < files.length && batch.length < MAX_BATCH_FILES; at++) {
      const next = files[at];
      if (next === undefined || (batch.length > 0 && bytes + next.bytes > MAX_BATCH_BYTES)) break;
      bytes += next.bytes;
      const { path, key, kind, name, origin } = next;
      batch.push({ path, key, kind, name, origin, ...claimOf(next.claimed) });
    }
    const body = { files: batch, ...trust, by: "operator", maxBytes: MAX_DOCUMENT_BYTES };
    const end = await on.begin?.({ files: batch.length, bytes });
    try {
      report = addReports(report, readReport(await wiki.ask("ingestFiles", body)));
    } catch (error) {
      if (isStopped()) throw stopped(error);
      throw error;
    } finally {
      await end?.();
    }
  }
  return report;
}

function stopped(cause?: unknown): Fault {
  return new Fault(
    "cancelled",
    "Cannot go on: stopped by you; what was taken in stays, and the same command goes on",
    { cause },
  );
}

/** Takes a folder in, by its ignore rules; marks sources whose files are gone as removed. */
export async function ingestFolder(
  where: WikiWhere,
  wiki: OpenWiki,
  root: string,
  trust: Trust,
  on: OnIngest = {},
): Promise<Ingested> {
  const { powers, places } = where;
  const { disk, wikis } = powers;
  const apart = [
    disk.real(places.state) ?? places.state,
    wiki.place.folder,
    ...knownWikis(where).map(({ folder }) => folder),
  ].filter((each) => each !== root);
  const lists = makeExportLists(disk);
  const walk = walkFolder({ disk, wikis, apart, most: MAX_DOCUMENT_BYTES }, root);
  const files = walk.files.map(({ path, name, kind, bytes }) => ({
    ...{ path: wiki.link.inside(path), key: fileKey(path), kind, bytes, origin: path },
    name: name.slice(-512),
    ...claimOf(lists.ofFile(path)),
  }));
  const long = files.filter(({ origin }) => origin.length > 4_000);
  const taken = await ingestBatches(wiki, files.filter((each) => !long.includes(each)), trust, on);
  const failed = [
    ...taken.failed,
    ...long.map(({ name }) => ({ name, why: "its path is too long" })),
    ...walk.unread.map(({ name, why }) => ({ name, why: `${why}; what was taken in of it stays` })),
    ...walk.large.map(({ name, bytes }) => ({
      name,
      why: `it has ${bytes} bytes; a document has at most ${MAX_DOCUMENT_BYTES}`,
    })),
  ];
  // Unreadable and oversized files still exist: their sources are not marked as removed.
  const present = [...walk.files, ...walk.large].map(({ path }) => fileKey(path));
  const unseen = [...walk.unread, ...walk.deep].map(({ path }) => folderKey(path));
  const gone = { keyPrefix: folderKey(root), present, ...(unseen.length === 0 ? {} : { unseen }) };
  const { removed } = readGone(await wiki.ask("ingestGone", gone));
  return { of: { prefix: folderKey(root) }, report: { ...taken, failed }, walk, removed };
}

/** Takes in one file, its kind told by name or bytes. Throws for a path on the never-list. */
export async function ingestFile(
  where: WikiWhere,
  wiki: OpenWiki,
  path: string,
  trust: Trust,
  on: OnIngest = {},
): Promise<Ingested> {
  const { disk, wikis } = where.powers;
  if (wikis.isNever(path)) throw neverFault(path);
  const bytes = wikis.look(path)?.bytes ?? 0;
  const name = basename(path);
  const of = { key: fileKey(path) };
  const fail = (why: string): Ingested => ({
    of,
    report: { ...EMPTY_REPORT, failed: [{ name, why }] },
    removed: [],
  });
  if (bytes > MAX_DOCUMENT_BYTES) {
    return fail(`it has ${bytes} bytes; a document has at most ${MAX_DOCUMENT_BYTES}`);
  }
  let kind = kindOfName(name);
  if (kind === undefined) {
    try {
      // A file of size 0 is not sniffed: some of the system's own have no end.
      if (bytes === 0 || looksLikeText(disk.read(path) ?? NO_TEXT)) kind = "text";
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return fail("it may not be read");
    }
  }
  if (kind === undefined) return fail("it is of no kind that is read, and its bytes are no text");
  const report = await ingestBatches(
    wiki,
    [{
      ...{ path: wiki.link.inside(path), ...of, kind, name, origin: path, bytes },
      ...claimOf(makeExportLists(disk).ofFile(path)),
    }],
    trust,
    on,
  );
  return { of, report, removed: [] };
}

/** Takes in bytes that were copied to a file which the wiki's process may read. */
export async function ingestBytes(
  wiki: OpenWiki,
  from: Omit<Taken, "claimed"> & { readonly bytes: number },
  trust: Trust,
  on: OnIngest = {},
): Promise<Ingested> {
  const file = { ...from, path: wiki.link.inside(from.path) };
  const report = await ingestBatches(wiki, [file], trust, on);
  return { of: { key: from.key }, report, removed: [] };
}

interface WikiFilling {
  readonly folder: string;
  /** A folder of documents. */
  readonly docs: string;
  readonly label?: Label;
  readonly colour?: "YELLOW" | "RED";
}

/**
 * Makes a wiki from a folder of documents, with extractive pages; it does not become the default.
 * Throws `upstream` when a document fails.
 */
export async function provideWiki(
  where: WikiWhere,
  filling: WikiFilling,
): Promise<Pick<WikiPlace, "folder" | "state">> {
  const { disk } = where.powers;
  const docs = disk.real(filling.docs);
  if (docs === undefined) {
    throw new Fault("notFound", `Cannot fill a wiki: there is no folder "${filling.docs}"`);
  }
  const place = makeWikiPlace(where, filling.folder);
  const quiet = (): void => undefined;
  await openWiki(where, place, { create: true, reads: [docs], say: quiet }, async (wiki) => {
    const { report } = await ingestFolder(where, wiki, docs, {
      label: filling.label ?? "internal",
      colour: filling.colour ?? "YELLOW",
      owner: "operator",
    });
    const [failed] = report.failed;
    if (failed !== undefined) {
      throw new Fault("upstream", `Cannot fill a wiki: ${failed.name}: ${failed.why}`);
    }
    readExtract(await wiki.ask("extract", {}));
  });
  return { folder: place.folder, state: place.state };
}
