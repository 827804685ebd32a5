/** Passages of sources: candidates by FTS5, with their words. @module */
import type { Label, WikiSource } from "../../contracts/mod.ts";
import type { Chunk } from "../store/wiki_store.ts";
import type { SearchedStore } from "./searched_store.ts";
import { passageKey, type SourcePassage } from "./passage.ts";
import { headingsOf } from "./sections.ts";
import { termsOf } from "./terms.ts";

/** Text of a passage beyond this is not looked at, UTF-16 code units. */
const MOST_TEXT = 16_384;

/** The FTS5 expression for passages that hold any of `terms`. */
export function matchAny(terms: readonly string[]): string {
  return terms.map((term) => `"${term}"`).join(" OR ");
}

/** Whether a source may be found now. */
export function isFound(source: WikiSource, now: number): boolean {
  return source.state === "current" && (source.expiresAt === undefined || source.expiresAt > now);
}

/** Passages that hold any of `terms`, best first by FTS5, at most `limit` of each label. */
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
  const text = store.sources.passage(chunk).slice(0, MOST_TEXT);
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
