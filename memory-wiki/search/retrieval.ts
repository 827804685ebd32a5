/** One question's way: candidates of each list, one scale for all, vectors, fusion. @module */
import type { Label } from "../../contracts/mod.ts";
import type { WikiQuery } from "../../contracts/wire_wiki.ts";
import { fuse, inOrder } from "./fuse.ts";
import { makeNearness } from "./nearness.ts";
import type { PageIndex } from "./page_index.ts";
import { type Passage, passageKey } from "./passage.ts";
import { asksWhatItIs } from "./query_terms.ts";
import type { Ranking } from "./ranking.ts";
import { makeScore, type Scored, type Statistics } from "./score.ts";
import type { SearchedStore } from "./searched_store.ts";
import { findSources } from "./source_passages.ts";

/** What is known when retrieval begins. */
export interface RetrievalContext {
  readonly terms: readonly string[];
  readonly pages: PageIndex;
  readonly now: number;
}

/** What it gives. */
export interface Retrieved {
  /** Best first, with fused scores. */
  readonly ranked: readonly (readonly [Passage, number])[];
  /** By words alone, best first. */
  readonly scored: readonly Scored[];
  readonly statistics: Statistics;
  /** The largest cosine; undefined where no vectors were compared. */
  readonly near: number | undefined;
}

/** Makes the retrieval of one wiki. */
export function makeRetrieval(
  store: SearchedStore,
  ranking: Ranking,
): (q: WikiQuery, context: RetrievalContext) => Retrieved {
  const nearness = makeNearness(store);

  return (q, { terms, pages, now }) => {
    const { clearance, within } = q;
    const limit = Math.max(ranking.candidates, q.k);
    const known = statistics(store, pages, terms, clearance, within);
    const lists: readonly (readonly Passage[])[] = [
      within === "sources" ? [] : pages.find(terms, limit),
      within === "pages" ? [] : findSources(store, terms, { clearance, limit, now }),
    ];
    const found = new Map(lists.flat().map((passage) => [passageKey(passage), passage]));
    const near = nearness(q, { pages, now, limit, candidates: [...found.values()] });
    for (const passage of near?.passages ?? []) found.set(passageKey(passage), passage);

    const scored = [...found.values()].map(makeScore(terms, known, ranking));
    const ranks = fuse(
      lists.map((list) => ({ keys: list.map(passageKey), weight: ranking.listed })),
      ranking.smooth,
    );
    const leadWeight = asksWhatItIs(q.text, terms) ? ranking.leadOfWhat : ranking.lead;
    const scores = new Map(scored.map(({ passage, score }) => {
      const key = passageKey(passage);
      const lead = leadWeight / (1 + (passage.startLine - 1) / ranking.leadLines);
      const cosine = near?.cosines.get(key) ?? 0;
      return [key, score + lead + (ranks.get(key) ?? 0) + ranking.vectors * cosine];
    }));
    const ranked = inOrder(scores).flatMap(([key, score]) => {
      const passage = found.get(key);
      return passage === undefined ? [] : [[passage, score] as const];
    });
    return { ranked, scored: ordered(scored), statistics: known, near: near?.largest };
  };
}

function ordered(scored: readonly Scored[]): readonly Scored[] {
  return scored.filter(({ score }) => score > 0).sort((a, b) =>
    b.score - a.score || (passageKey(a.passage) < passageKey(b.passage) ? -1 : 1)
  );
}

/** Over the passages of pages and sources together, as far as both are asked. */
function statistics(
  store: SearchedStore,
  pages: PageIndex,
  terms: readonly string[],
  clearance: Label,
  within: WikiQuery["within"],
): Statistics {
  const none = { chunks: 0, averageTerms: 0, frequency: new Map<string, number>() };
  const sources = within === "pages" ? none : store.chunks.statistics(terms, clearance);
  const own = within === "sources" ? 0 : pages.passages;
  const frequency = new Map(terms.map((term) => [
    term,
    (sources.frequency.get(term) ?? 0) + (own > 0 ? pages.frequency(term) : 0),
  ]));
  const passages = sources.chunks + own;
  const words = sources.chunks * sources.averageTerms + own * pages.averageTerms();
  return { passages, averageTerms: passages === 0 ? 0 : words / passages, frequency };
}
