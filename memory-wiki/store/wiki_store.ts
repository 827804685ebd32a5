/**
 * The store of one wiki, as every part of memory-wiki/ sees it. One engine: SQLite beside the state,
 * plain files in the wiki's folder. docs/decision/0013.
 * @module
 */
import type { Colour, Digest, Label } from "../../contracts/authority/mod.ts";
import type {
  Citation,
  Claim,
  Note,
  Page,
  PageChange,
  PageMark,
  PageName,
  PagePatch,
  PatchName,
  SourceKind,
  WikiEvent,
  WikiSource,
} from "../../contracts/memory/mod.ts";
import type { WikiContents } from "../../contracts/wire/mod.ts";

/** A passage of a source's text that is found as one: bytes and lines of `WikiSource.text`. */
export interface NewChunk {
  readonly startLine: number;
  readonly endLine: number;
  /** In the text's UTF-8 bytes, end exclusive. */
  readonly startByte: number;
  readonly endByte: number;
  /** Headings above it, outermost first, joined by ` > `. */
  readonly heading: string;
  /** Its words as `termsOf` (search/terms.ts) gives them, joined by spaces: what FTS5 indexes. */
  readonly terms: string;
  /** Likewise of heading and title. */
  readonly headingTerms: string;
}

/** A passage that is stored. */
export interface Chunk extends Omit<NewChunk, "terms" | "headingTerms"> {
  readonly id: number;
  readonly source: number;
}

/** A source to be taken in. `text` is undefined where the raw bytes are the text. */
export interface NewSource {
  readonly key: string;
  readonly kind: SourceKind;
  readonly title: string;
  readonly raw: Uint8Array;
  readonly text?: Uint8Array;
  readonly label: Label;
  readonly colour: Colour;
  readonly owner: string;
  readonly provenance: WikiSource["provenance"];
  readonly expiresAt?: number;
  readonly chunks: readonly NewChunk[];
}

/** What became of a source that was to be taken in. */
export interface TakenSource {
  readonly source: WikiSource;
  readonly did: "new" | "changed" | "unchanged";
}

/** Sources by key, version and digest. */
export interface SourceTable {
  /** The newest version of a key in state `current`. */
  current(key: string): WikiSource | undefined;
  byId(id: number): WikiSource | undefined;
  /** Any version with these raw bytes, current ones first. `prefix` is at least 12 hex characters. */
  byDigest(prefix: string): WikiSource | undefined;
  /** The source whose raw or text file this is (`raw/NAME`), current ones first. */
  byFile(file: string): WikiSource | undefined;
  /**
   * Takes in one version: raw file first, then one transaction that also supersedes the version
   * before. The same key with the same digest, label and colour changes nothing and gives what is there. Bytes that are known, or
   * were exported from this wiki, get the lowest colour and the highest label that were recorded for them.
   */
  add(source: NewSource): Promise<WikiSource>;
  /** As {@link SourceTable.add}, for many in one transaction; what became of each, in their order. */
  addAll(sources: readonly NewSource[]): Promise<readonly TakenSource[]>;
  /** Marks as removed; its bytes stay. */
  remove(key: string): void;
  /** Ascending by id. `clearance` leaves out what is above it. */
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
   * Lines `from`..`to` of the text, at most `maxBytes` (65,536), whole lines joined by line feeds; of a line that alone is
   * longer, its beginning. Throws `storeCorrupt` when the file is gone or is not what was ingested.
   */
  lines(source: WikiSource, from: number, to: number, maxBytes?: number): string;
  /** What a citation of these lines says of them: SHA-256 of all of them, joined by line feeds. */
  span(source: WikiSource, from: number, to: number): Digest;
  /** A passage's text, by its bytes. Throws as {@link SourceTable.lines}. */
  passage(chunk: Chunk): string;
  /** Whether raw and text files still hold what was ingested. */
  intact(source: WikiSource): Promise<boolean>;
  /** Colour and label recorded for bytes that this wiki wrote elsewhere (export); see {@link SourceTable.add}. */
  recordExport(digest: Digest, colour: Colour, label: Label): void;
}

/** Candidates among the chunks of sources at or below a clearance. What is above is never looked at. */
export interface ChunkSearch {
  /**
   * Best first by FTS5's bm25 within each label's own table, at most `limit` of each. `match` is an FTS5 expression over
   * the columns `terms` and `heading`.
   */
  candidates(query: {
    readonly match: string;
    readonly clearance: Label;
    readonly limit: number;
  }): readonly {
    readonly chunk: Chunk;
    readonly source: WikiSource;
    /** FTS5's own, negative: lower is better. */
    readonly bm25: number;
  }[];
  /** Numbers over the chunks that the clearance covers, for scoring. */
  statistics(terms: readonly string[], clearance: Label): {
    readonly chunks: number;
    readonly averageTerms: number;
    /** In how many chunks each term occurs. */
    readonly frequency: ReadonlyMap<string, number>;
  };
}

/** A page with what was read of its file. */
export interface StoredPage extends Page {
  readonly claims: readonly Claim[];
  readonly citations: readonly Citation[];
  /** Names or titles within `[[…]]`, as written, with their line. */
  readonly links: readonly { readonly target: string; readonly line: number }[];
}

/** One version of a page's past. */
export interface PageVersion {
  readonly version: number;
  readonly digest: Digest;
  readonly author: string;
  readonly at: number;
  readonly patch?: PatchName;
  readonly colour: Colour;
  readonly label: Label;
  readonly deleted: boolean;
}

/** Pages as the store has them. */
export interface PageTable {
  get(name: PageName): StoredPage | undefined;
  /** By exact name, else title or alias without case. */
  find(target: string): StoredPage | undefined;
  /** Ascending by name; without claims, citations and links. */
  list(
    query: { readonly clearance: Label; readonly after?: string; readonly limit?: number },
  ): readonly Page[];
  count(clearance: Label): number;
  /** The whole file with its front matter, of a version or the newest, as the store has it. */
  text(name: PageName, version?: number): string | undefined;
  /** The file as it lies in the folder now, hand edits too; undefined when it is gone. Throws `refused` for a link. */
  onDisk(name: PageName): string | undefined;
  history(name: PageName): readonly PageVersion[];
  backlinks(name: PageName): readonly PageName[];
  /** Pages that cite a source's bytes. */
  citing(digest: Digest): readonly PageName[];
  /**
   * Looks for files that were changed, made or removed past the store, and takes them in as versions by `hand`:
   * colour at most YELLOW, label at least internal, never better than the version before. Files that are no page
   * (front matter that does not parse, links out of the folder, over 1 MiB) are left alone and told.
   */
  sync(): Promise<{
    readonly taken: readonly PageName[];
    readonly removed: readonly PageName[];
    readonly problems: readonly { readonly file: string; readonly why: string }[];
  }>;
  review(name: PageName, version: number, by: string): void;
  /**
   * Checks the signature against `trustedKeys`, then the mark holds for that very digest: the file stays as it is, so
   * its front matter may show worse. The next version goes by the rules again. Throws `refused`.
   */
  mark(mark: PageMark): void;
}

/** Proposed and decided changes of pages. */
export interface PatchTable {
  propose(patch: {
    readonly author: string;
    readonly reason: string;
    readonly changes: readonly PageChange[];
    readonly colour: Colour;
    readonly label: Label;
  }): PagePatch;
  get(id: PatchName): PagePatch | undefined;
  list(state?: PagePatch["state"]): readonly PagePatch[];
  /**
   * Applies whole or not at all: checks version and file, then one transaction, then
   * the files by rename (a crash between is made good at the next open). A patch that meets another's change becomes `conflict`.
   */
  apply(id: PatchName, by: string): Promise<PagePatch>;
  reject(id: PatchName, by: string): PagePatch;
}

/** Notes of agents, by kind. */
export interface NoteTable {
  add(note: Omit<Note, "id" | "at">): Note;
  decide(id: string, state: "kept" | "rejected", by: string): Note;
  /** `agent` narrows userMemory to one agent's own. Expired ones are never given. */
  list(query: {
    readonly clearance: Label;
    readonly kind?: Note["kind"];
    readonly agent?: string;
    readonly task?: string;
    readonly state?: Note["state"];
    readonly limit?: number;
  }): readonly Note[];
  /** Erases what has expired; gives how many. */
  sweep(): number;
}

/** The append-only record, and `log.md`, its picture. */
export interface WikiLog {
  append(event: Pick<WikiEvent, "kind" | "by" | "text">): WikiEvent;
  list(query: { readonly afterN?: number; readonly limit?: number }): readonly WikiEvent[];
  /** Undefined when the chain and `log.md` hold; else what is wrong. */
  verify(): string | undefined;
}

/** Vectors of chunks and of page sections, by the embedder that made them. */
export interface VectorTable {
  /** Keys: `chunk:ID`, `page:NAME:VERSION:N`. Each vector has the embedder's dimensions. */
  put(
    embedder: string,
    vectors: readonly { readonly key: string; readonly vector: Float32Array }[],
  ): void;
  get(embedder: string, keys: readonly string[]): ReadonlyMap<string, Float32Array>;
  /** Chunks of current sources at or below the clearance that have no vector yet, at most `limit`. */
  missing(embedder: string, clearance: Label, limit: number): readonly Chunk[];
  count(embedder: string): number;
}

/** Small durable JSON documents: ingest runs, index state. */
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

/** One open wiki. */
export interface WikiStore {
  /** The wiki's folder, real and absolute. */
  readonly folder: string;
  /** STATE/wiki/ID: where indexes may keep files of their own. */
  readonly stateFolder: string;
  /** Raised with each change of pages or sources, by whichever process. */
  generation(): number;
  readonly sources: SourceTable;
  readonly chunks: ChunkSearch;
  readonly pages: PageTable;
  readonly patches: PatchTable;
  readonly notes: NoteTable;
  readonly log: WikiLog;
  readonly vectors: VectorTable;
  readonly documents: WikiDocuments;
  /** What the whole state is still to be told of bytes that this wiki has or made. */
  readonly contents: UntoldContents;
  close(): void;
}
