/** Passages of pages and sources, and the parts of the store that search reads. @module */
import type { Label } from "../../contracts/authority/mod.ts";
import type { WikiSource } from "../../contracts/memory/mod.ts";
import type {
  Chunk,
  ChunkSearch,
  PageTable,
  SourceTable,
  VectorTable,
  WikiStore,
} from "../store/wiki_store.ts";
import { headingsOf } from "./sections.ts";
import { termsOf } from "./terms.ts";

interface PassageText {
  /** `pages/NAME.md` or `raw/NAME`. */
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  /** Distinguishes passages on the same line. */
  readonly startByte: number;
  readonly headings: readonly string[];
  readonly titleTerms: readonly string[];
  readonly headingTerms: readonly string[];
  readonly bodyTerms: readonly string[];
}

/** A passage of a page. */
export interface PagePassage extends PassageText {
  readonly kind: "page";
  readonly name: string;
  readonly version: number;
  readonly digest: string;
  /** Its number within the page, from 0. */
  readonly n: number;
}

/** A passage of a source. */
export interface SourcePassage extends PassageText {
  readonly kind: "source";
  readonly source: WikiSource;
  readonly chunk: Chunk;
}

export type Passage = PagePassage | SourcePassage;

/** Identifies a passage independently of the caller's clearance. */
export function passageKey(
  { file, startLine, startByte }: Pick<Passage, "file" | "startLine" | "startByte">,
): string {
  return `${file}:${startLine}:${startByte}`;
}

/** The parts of a {@link WikiStore} that search uses. */
export interface SearchedStore extends Pick<WikiStore, "generation"> {
  readonly sources: Pick<
    SourceTable,
    "byId" | "byDigest" | "list" | "count" | "chunksOf" | "passage"
  >;
  readonly chunks: ChunkSearch;
  readonly pages: Pick<PageTable, "find" | "list" | "text">;
  readonly vectors: Pick<VectorTable, "put" | "get" | "missing" | "count">;
}

// Passages of sources: candidates by FTS5, with their words.

/** UTF-16 units read of a passage. */
const MAX_TEXT = 16_384;

/** The FTS5 expression for any of `terms`. */
export function matchAny(terms: readonly string[]): string {
  return terms.map((term) => `"${term}"`).join(" OR ");
}

/** Whether a source is current and not expired. */
export function isFound(source: WikiSource, now: number): boolean {
  return source.state === "current" && (source.expiresAt === undefined || source.expiresAt > now);
}

/** Passages with any of `terms`, best first by FTS5, at most `limit` per label. */
export function findSources(
  store: SearchedStore,
  terms: readonly string[],
  options: { readonly clearance: Label; readonly limit: number; readonly now: number },
): readonly SourcePassage[] {
  if (terms.length === 0) return [];
  const { clearance, limit, now } = options;
  const found = store.chunks.candidates({ match: matchAny(terms), clearance, limit })
    .filter(({ source }) => isFound(source, now));
  return found
    .map(({ source, chunk, bm25 }) => ({ bm25, passage: sourcePassage(store, source, chunk) }))
    .sort((a, b) => a.bm25 - b.bm25 || (passageKey(a.passage) < passageKey(b.passage) ? -1 : 1))
    .map(({ passage }) => passage);
}

/** A chunk with its words, read from its file. */
export function sourcePassage(
  store: SearchedStore,
  source: WikiSource,
  chunk: Chunk,
): SourcePassage {
  const text = store.sources.passage(chunk).slice(0, MAX_TEXT);
  return {
    kind: "source",
    source,
    chunk,
    file: source.text,
    startLine: chunk.startLine,
    endLine: chunk.endLine,
    startByte: chunk.startByte,
    headings: headingsOf(chunk.heading),
    titleTerms: termsOf(source.title),
    headingTerms: termsOf(chunk.heading),
    bodyTerms: termsOf(text),
  };
}
