/**
 * Questions to a wiki: passages of pages (Orama) and of sources (FTS5), scored on one scale, fused by rank with vectors where there are
 * some. What the caller's clearance does not cover is never looked at. docs/retrieval.md.
 * @module
 */
import type { Found, Label } from "../../contracts/mod.ts";
import type { WikiQuery } from "../../contracts/wire_wiki.ts";
import type { SearchedStore } from "./searched_store.ts";
import { makeEmbedding } from "./embedding.ts";
import { fitOfAll, fitSigns } from "./fit.ts";
import { fuse, inOrder } from "./fuse.ts";
import { makeHits } from "./hits.ts";
import { makeKeptIndexes } from "./kept_indexes.ts";
import { passageKey } from "./passage.ts";
import { queryTerms } from "./query_terms.ts";
import { RANKING, type Ranking } from "./ranking.ts";
import { makeRetrieval } from "./retrieval.ts";
import { rarity } from "./score.ts";

/** Files of the index beneath one folder. */
export interface IndexFiles {
  /** The file, or its first `most` bytes; undefined when it is not there. */
  read(name: string, most?: number): Uint8Array | undefined;
  /** Whole or not at all: temporary file, fsync, rename. */
  write(name: string, bytes: Uint8Array): void;
  remove(name: string): void;
}

/** What a search is handed. */
export interface SearchPowers {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly files: IndexFiles;
  /** Other numbers than {@link RANKING}: for measuring. */
  readonly ranking?: Ranking;
}

/** Options of one query. */
export interface SearchOptions {
  /** Scores of texts for a query, higher is better; puts the best passages in order. */
  readonly rerank?: (query: string, texts: readonly string[]) => Promise<readonly number[]>;
}

/** See {@link makeWikiSearch}. */
export interface WikiSearch {
  query(q: WikiQuery, options?: SearchOptions): Promise<Found>;
  /** Takes in what changed since; a query does it by itself. */
  refresh(): Promise<void>;
  /** Forgets all, and indexes anew what had an index. */
  rebuild(): Promise<void>;
  /** Of the index that was last used; `missing` when there is none in memory or kept. */
  state(): "fresh" | "behind" | "missing";
  /** Keeps what is in memory, so that the next process need not index. */
  save(): Promise<void>;
  /** Texts of pages and sources at or below `clearance` (absent: all) without a vector of this embedder, at most `limit`. */
  embedPlan(
    embedder: string,
    limit: number,
    clearance?: Label,
  ): readonly { readonly key: string; readonly text: string }[];
  /** Keeps vectors for keys of {@link WikiSearch.embedPlan}. */
  embedTaken(
    embedder: string,
    vectors: readonly { readonly key: string; readonly vector: readonly number[] }[],
  ): void;
}

/** Most terms of a question and its phrasings that are looked for together. */
const MOST_TERMS = 96;
/** So many of a phrasing's best are looked at for whether it agrees with the others. */
const AGREEING = 3;
/** So many of the best are put in order anew by a reranker. */
const RERANKED = 20;

/** Makes the search of one wiki. Nothing is read or indexed before the first question. */
export function makeWikiSearch(store: SearchedStore, powers: SearchPowers): WikiSearch {
  const ranking = powers.ranking ?? RANKING;
  const indexes = makeKeptIndexes(store, powers.files, ranking);
  const retrieve = makeRetrieval(store, ranking);
  const embedding = makeEmbedding(store, indexes);

  return Object.freeze<WikiSearch>({
    async query(q, options = {}) {
      const { clearance, k } = q;
      const now = powers.now();
      const pages = indexes.of(clearance);
      const look = (text: string, terms: readonly string[], vector?: WikiQuery["vector"]) => {
        const { vector: _, ...rest } = q;
        const own = { ...rest, text, ...(vector === undefined ? {} : { vector }) };
        return { terms, ...retrieve(own, { terms, pages, now }) };
      };
      const [first, ...others] = phrasings(q).map((text, n) =>
        // The vector is the question's own.
        look(text, queryTerms(text), n === 0 ? q.vector : undefined)
      );
      const asked = first === undefined ? [] : [first, ...others];
      const terms = [...new Set(asked.flatMap((each) => each.terms))].slice(0, MOST_TERMS);
      // Asked in one piece, too: what holds words of several phrasings holds much of none.
      const whole = others.length === 0 ? [] : [look(q.text, terms)];
      const weights = new Map<string, number>();
      for (const { terms: own, alike, statistics } of asked) {
        for (const like of [...alike.values()].flat()) {
          const weight = ranking.alike * rarity(like, statistics);
          weights.set(like, Math.max(weight, weights.get(like) ?? 0));
        }
        for (const term of own) weights.set(term, rarity(term, statistics));
      }
      const ranked = together([...asked, ...whole].map((each) => each.ranked), ranking.smooth);
      let order = ranked;
      if (options.rerank !== undefined && ranked.length > 1) {
        order = await reranked(q.text, ranked, options.rerank);
      }
      const hits = makeHits(store, order, { k, clearance, now, weights });
      const counted = store.sources.count(clearance);
      const [best] = ranked;
      const agreed = asked.filter((each) =>
        each.ranked.slice(0, AGREEING).some(([passage]) =>
          best !== undefined && passageKey(passage) === passageKey(best[0])
        )
      ).length / Math.max(1, asked.length);
      const signs = asked.map((each) =>
        fitSigns(each.terms, each.scored, each.statistics, each.near)
      );
      return {
        hits,
        fit: hits.length === 0 ? "none" : fitOfAll(signs, agreed),
        searched: {
          pages: q.within === "sources" ? 0 : pages.pages,
          sources: q.within === "pages" ? 0 : counted.sources,
          passages: first?.statistics.passages ?? 0,
          terms,
          vectors: first?.near !== undefined,
        },
      };
    },
    refresh: () =>
      Promise.try(() => indexes.follow()),
    rebuild: () => Promise.try(() => indexes.rebuild()),
    state: () => indexes.state(),
    save: () => Promise.try(() => indexes.save()),
    embedPlan: embedding.plan,
    embedTaken: embedding.taken,
  });
}

type Order = ReturnType<ReturnType<typeof makeRetrieval>>["ranked"];

/** The question and what else is searched for it, each once. */
function phrasings({ text, queries = [] }: WikiQuery): readonly string[] {
  const told = new Set<string>();
  return [text, ...queries].filter((each) => {
    const key = queryTerms(each).toSorted().join(" ");
    if (told.has(key)) return false;
    told.add(key);
    return true;
  });
}

/** The orders of all phrasings as one; 1 for a passage that every one of them puts first. */
function together(orders: readonly Order[], smooth: number): Order {
  const [first = []] = orders;
  if (orders.length < 2) return first;
  const passages = new Map(orders.flat().map(([passage]) => [passageKey(passage), passage]));
  const weight = (smooth + 1) / orders.length;
  const lists = orders.map((order) => ({
    keys: order.map(([passage]) => passageKey(passage)),
    weight,
  }));
  return inOrder(fuse(lists, smooth)).flatMap(([key, score]) => {
    const passage = passages.get(key);
    return passage === undefined ? [] : [[passage, score] as const];
  });
}

/** The best anew by the reranker's scores; what has none keeps its place after them. */
async function reranked(
  query: string,
  ranked: Order,
  rerank: NonNullable<SearchOptions["rerank"]>,
): Promise<Order> {
  const head = ranked.slice(0, RERANKED);
  const scores = await rerank(query, head.map(([passage]) => passage.bodyTerms.join(" ")));
  if (scores.length !== head.length || !scores.every(Number.isFinite)) return ranked;
  const order = head.map((each, n) => ({ each, n, score: scores[n] ?? 0 }))
    .sort((a, b) => b.score - a.score || a.n - b.n)
    .map(({ each }, n): Order[number] => [each[0], head[n]?.[1] ?? each[1]]);
  return [...order, ...ranked.slice(RERANKED)];
}
