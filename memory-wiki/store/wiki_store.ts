/**
 * The interface of one wiki's store for all of memory-wiki/. One engine: SQLite in the state folder, plain
 * files in the wiki's folder. docs/decision/0013.
 * @module
 */
import type { Colour, Digest, Label } from "../../contracts/authority/mod.ts";
import type {
  Citation,
  Claim,
  Note,
  Page,
  PageMark,
  PageName,
  PagePatch,
  PatchName,
  SourceKind,
  WikiEvent,
  WikiSource,
} from "../../contracts/memory/mod.ts";
import type { WikiContents } from "../../contracts/wire/mod.ts";
import { type Trust } from "./trust_rules.ts";

/** A searchable passage of a source: bytes and lines of `WikiSource.text`. */
export interface NewChunk {
  readonly startLine: number;
  readonly endLine: number;
  /** UTF-8 bytes of the text, end exclusive. */
  readonly startByte: number;
  readonly endByte: number;
  /** Headings above it, outermost first, joined by ` > `. */
  readonly heading: string;
  /** Terms of the text by `termsOf` (search/terms.ts), separated by spaces, for FTS5. */
  readonly terms: string;
  /** Terms of heading and title. */
  readonly headingTerms: string;
}

/** A stored passage. */
export interface Chunk extends Omit<NewChunk, "terms" | "headingTerms"> {
  readonly id: number;
  readonly source: number;
}

/** A source to ingest. `text` is undefined if the raw bytes are the text. */
export interface NewSource extends Trust {
  readonly key: string;
  readonly kind: SourceKind;
  readonly title: string;
  readonly raw: Uint8Array;
  readonly text?: Uint8Array;
  readonly owner: string;
  readonly provenance: WikiSource["provenance"];
  readonly expiresAt?: number;
  readonly chunks: readonly NewChunk[];
}

/** Result of ingesting a source. */
export interface TakenSource {
  readonly source: WikiSource;
  readonly did: "new" | "changed" | "unchanged";
}

/** Sources by key, version and digest. */
export interface SourceTable {
  /** The version of a key in state `current`. */
  current(key: string): WikiSource | undefined;
  byId(id: number): WikiSource | undefined;
  /** Any version with these raw bytes, preferably current. `prefix`: at least 12 hex characters of the digest. */
  byDigest(prefix: string): WikiSource | undefined;
  /** The source with this raw or text file (`raw/NAME`), preferably current. */
  byFile(file: string): WikiSource | undefined;
  /**
   * Ingests a version: the raw file first, then one transaction that also supersedes the previous version.
   * Returns the existing version if digest, label and colour are unchanged. Bytes that are known, or were
   * exported from this wiki, get the worse of claimed and recorded trust.
   */
  add(source: NewSource): Promise<WikiSource>;
  /** Like {@link SourceTable.add}, for many sources in one transaction. Results are in order. */
  addAll(sources: readonly NewSource[]): Promise<readonly TakenSource[]>;
  /** Marks a source as removed; its bytes remain. */
  remove(key: string): void;
  /** Ascending by id, within `clearance`. */
  list(query: {
    readonly clearance?: Label;
    readonly state?: WikiSource["state"];
    readonly keyPrefix?: string;
    readonly afterId?: number;
    readonly limit?: number;
  }): readonly WikiSource[];
  count(clearance: Label): { readonly sources: number; readonly chunks: number };
  chunksOf(id: number): readonly Chunk[];
  /**
   * Lines `from`..`to` of the text joined by newlines: whole lines up to `maxBytes` (65,536); a single longer
   * line is cut. Throws `storeCorrupt` when the file is missing or altered.
   */
  lines(source: WikiSource, from: number, to: number, maxBytes?: number): string;
  /** The digest in a citation of these lines: SHA-256 of the lines joined by newlines. */
  span(source: WikiSource, from: number, to: number): Digest;
  /** A passage's text. Throws like {@link SourceTable.lines}. */
  passage(chunk: Chunk): string;
  /** Whether raw and text files have the ingested bytes. */
  intact(source: WikiSource): Promise<boolean>;
  /** Records the trust of exported bytes; see {@link SourceTable.add}. */
  recordExport(digest: Digest, colour: Colour, label: Label): void;
}

/** Full-text search over chunks within a clearance. Tables of higher labels are not read. */
export interface ChunkSearch {
  /**
   * Best first by bm25 within each label's table, at most `limit` per label. `match`: an FTS5 expression over
   * the columns `terms` and `heading`.
   */
  candidates(query: {
    readonly match: string;
    readonly clearance: Label;
    readonly limit: number;
  }): readonly {
    readonly chunk: Chunk;
    readonly source: WikiSource;
    /** FTS5's score: negative, lower is better. */
    readonly bm25: number;
  }[];
  /** Statistics for scoring, over the chunks within the clearance. */
  statistics(terms: readonly string[], clearance: Label): {
    readonly chunks: number;
    readonly averageTerms: number;
    /** Number of chunks by term. */
    readonly frequency: ReadonlyMap<string, number>;
  };
}

/** A page with its parsed file. */
export interface StoredPage extends Page {
  readonly claims: readonly Claim[];
  readonly citations: readonly Citation[];
  /** Targets of `[[…]]`, as written, with their line. */
  readonly links: readonly { readonly target: string; readonly line: number }[];
}

/** A version of a page. */
export interface PageVersion extends Trust {
  readonly version: number;
  readonly digest: Digest;
  readonly author: string;
  readonly at: number;
  readonly patch?: PatchName;
  readonly deleted: boolean;
}

/** Pages in the store. */
export interface PageTable {
  get(name: PageName): StoredPage | undefined;
  /** By exact name, else by title or alias without case. */
  find(target: string): StoredPage | undefined;
  /** Ascending by name; without claims, citations and links. */
  list(
    query: { readonly clearance: Label; readonly after?: string; readonly limit?: number },
  ): readonly Page[];
  count(clearance: Label): number;
  /** The stored file with front matter, of a version or the newest. */
  text(name: PageName, version?: number): string | undefined;
  /** The current file on disk, including hand edits; undefined if missing. Throws `refused` for a link. */
  onDisk(name: PageName): string | undefined;
  history(name: PageName): readonly PageVersion[];
  backlinks(name: PageName): readonly PageName[];
  /** Pages that cite these raw bytes. */
  citing(digest: Digest): readonly PageName[];
  /**
   * Imports files changed, created or removed outside the store as versions by `hand`: colour at most YELLOW,
   * label at least internal, never better than the previous version. Files that are no valid page (unparsable
   * front matter, links out of the folder, over 1 MiB) are left alone and reported.
   */
  sync(): Promise<{
    readonly taken: readonly PageName[];
    readonly removed: readonly PageName[];
    readonly problems: readonly { readonly file: string; readonly why: string }[];
  }>;
  review(name: PageName, version: number, by: string): void;
  /**
   * Verifies the signature against `trustedKeys` and applies the mark to the exact digest. The file is not changed,
   * so its front matter may show worse values. The next version follows the rules again. Throws `refused`.
   */
  mark(mark: PageMark): void;
}

/** Patches: proposed and decided changes of pages. */
export interface PatchTable {
  propose(
    patch: Pick<PagePatch, "author" | "reason" | "changes" | "colour" | "label">,
  ): PagePatch;
  get(id: PatchName): PagePatch | undefined;
  list(state?: PagePatch["state"]): readonly PagePatch[];
  /**
   * Applies a patch completely or not at all: checks versions and files, commits one transaction, then renames files
   * (completed on the next opening after a crash). A patch that meets another change becomes `conflict`.
   */
  apply(id: PatchName, by: string): Promise<PagePatch>;
  reject(id: PatchName, by: string): PagePatch;
}

/** Notes of agents by kind. */
export interface NoteTable {
  add(note: Omit<Note, "id" | "at">): Note;
  decide(id: string, state: "kept" | "rejected", by: string): Note;
  /** `agent` restricts userMemory to that agent. Expired notes are never returned. */
  list(query: {
    readonly clearance: Label;
    readonly kind?: Note["kind"];
    readonly agent?: string;
    readonly task?: string;
    readonly state?: Note["state"];
    readonly limit?: number;
  }): readonly Note[];
  /** Erases expired notes; returns their number. */
  sweep(): number;
}

/** The append-only log, rendered to `log.md`. */
export interface WikiLog {
  append(event: Pick<WikiEvent, "kind" | "by" | "text">): WikiEvent;
  list(query: { readonly afterN?: number; readonly limit?: number }): readonly WikiEvent[];
  /** Undefined if chain and `log.md` are intact; otherwise the inconsistency. */
  verify(): string | undefined;
}

/** Vectors of chunks and page sections, by embedder. */
export interface VectorTable {
  /** Keys: `chunk:ID`, `page:NAME:VERSION:N`. All vectors have the embedder's dimensions. */
  put(
    embedder: string,
    vectors: readonly { readonly key: string; readonly vector: Float32Array }[],
  ): void;
  get(embedder: string, keys: readonly string[]): ReadonlyMap<string, Float32Array>;
  /** Chunks of current sources within the clearance without a vector, at most `limit`. */
  missing(embedder: string, clearance: Label, limit: number): readonly Chunk[];
  count(embedder: string): number;
}

/** Small durable JSON documents, such as ingest runs. */
export interface WikiDocuments {
  get(name: string): unknown;
  put(name: string, value: unknown): void;
  remove(name: string): void;
}

export interface UntoldContents {
  /** At most 1,000. */
  list(): WikiContents["contents"];
  told(contents: WikiContents["contents"]): void;
}

/** An open wiki. */
export interface WikiStore {
  /** The wiki's folder, real and absolute. */
  readonly folder: string;
  /** STATE/wiki/ID, also for index files. */
  readonly stateFolder: string;
  /** Increases with each change of pages or sources by any process. */
  generation(): number;
  readonly sources: SourceTable;
  readonly chunks: ChunkSearch;
  readonly pages: PageTable;
  readonly patches: PatchTable;
  readonly notes: NoteTable;
  readonly log: WikiLog;
  readonly vectors: VectorTable;
  readonly documents: WikiDocuments;
  /** Bytes whose trust is not yet reported to the state. */
  readonly contents: UntoldContents;
  close(): void;
}
