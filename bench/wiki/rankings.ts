/** Ways of ranking the same passages: FTS5 alone, Orama alone, and the wiki's search. @module */
import { create, insert, search as searchOrama } from "@orama/orama";
import { makePageIndex } from "../../memory-wiki/search/page_index.ts";
import { matchAny } from "../../memory-wiki/search/passage.ts";
import { queryTerms } from "../../memory-wiki/search/retrieval.ts";
import { sectionsOf } from "../../memory-wiki/search/sections.ts";
import type { WikiStore } from "../../memory-wiki/store/wiki_store.ts";
import type { Document } from "./corpus.ts";

/** Lines of a document, best first. */
export interface Place {
  readonly document: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** Answers a question with places. */
export type Ranking = (question: string) => Promise<readonly Place[]>;

/** Places that are looked at. */
export const PLACES = 10;
/** More than {@link PLACES}: some show the same lines. */
const ASKED = 2 * PLACES;

/** Where a wiki's files come from: the document, and what is to be taken off a line number of the file. */
export type Origins = ReadonlyMap<string, { readonly document: string; readonly shift: number }>;

/** The place of a hit or passage; undefined for another file's. */
export function placeOf(
  origins: Origins,
  { file, startLine, endLine }: {
    readonly file: string;
    readonly startLine: number;
    readonly endLine: number;
  },
): Place | undefined {
  const origin = origins.get(file);
  if (origin === undefined) return undefined;
  const { document, shift } = origin;
  return { document, startLine: startLine - shift, endLine: endLine - shift };
}

/** What shows no line that was not shown before counts no more: every document is here as a page and as a source. */
export function withoutRepeats(places: readonly Place[]): readonly Place[] {
  const kept: Place[] = [];
  for (const place of places) {
    const shown = kept.some((each) =>
      each.document === place.document && each.startLine <= place.startLine &&
      each.endLine >= place.endLine
    );
    if (!shown) kept.push(place);
  }
  return kept.slice(0, PLACES);
}

/** SQLite's bm25 over chunks of sources, any of the question's words, words of asking left out. */
export function ftsRanking(store: WikiStore, origins: Origins): Ranking {
  return (question) => {
    const terms = queryTerms(question);
    if (terms.length === 0) return Promise.resolve([]);
    const found = store.chunks.candidates({
      match: matchAny(terms),
      clearance: "internal",
      limit: ASKED,
    });
    return Promise.resolve(withoutRepeats(
      found.flatMap(({ chunk, source }) => placeOf(origins, { ...chunk, file: source.text }) ?? []),
    ));
  };
}

/** Orama with the options of memory-wiki/search/page_words.ts, over the passages of pages. */
export function oramaRanking(store: WikiStore, origins: Origins): Ranking {
  const pages = makePageIndex(store, "internal");
  pages.follow();
  return (question) =>
    Promise.resolve(withoutRepeats(
      pages.find(queryTerms(question), ASKED).flatMap((each) => placeOf(origins, each) ?? []),
    ));
}

/** Orama as it comes, over the same passages. */
export function bareOramaRanking(documents: readonly Document[]): Ranking {
  const database = create({
    schema: { title: "string", headings: "string", body: "string" } as const,
  });
  const places = new Map<string, Place>();
  for (const { name, title, text } of documents) {
    const lines = text.split("\n");
    for (const { headings, startLine, endLine } of sectionsOf(text)) {
      const body = lines.slice(startLine - 1, endLine).join("\n");
      const id = `${startLine} ${name}`;
      places.set(id, { document: name, startLine, endLine });
      insert(database, { id, title, headings: headings.join(" "), body });
    }
  }
  return async (question) => {
    const { hits } = await searchOrama(database, { term: question, limit: ASKED });
    return withoutRepeats(hits.flatMap(({ id }) => places.get(id) ?? []));
  };
}
