/**
 * Questions to a wiki: passages of pages and of sources (FTS5), scored on one scale, fused by rank with vectors where there are
 * some. What the caller's clearance does not cover is never looked at. docs/retrieval.md.
 * @module
 */
import type { Label } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { Found } from "../../contracts/memory/mod.ts";
import type { WikiQuery } from "../../contracts/wire/wire_wiki.ts";
import { makeHits } from "./hits.ts";
import { type IndexFiles, type KeptIndexes, makeKeptIndexes } from "./kept_indexes.ts";
import { passageKey, type SearchedStore } from "./passage.ts";
import { RANKING, type Ranking, rarity, type Scored, type Statistics } from "./ranking.ts";
import { fuse, inOrder, makeRetrieval, queryTerms } from "./retrieval.ts";
import { isUnspaced } from "./terms.ts";
import { chunkVectorKey, pageVectorKey, readVectors } from "./vector_space.ts";

/** What a search is handed. */
export interface SearchPowers {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly files: IndexFiles;
  /** Other numbers than {@link RANKING}: for measuring. */
  readonly ranking?: Ranking;
}

/** Search over one wiki: a query sees what its clearance covers, and nothing else. */
export interface WikiSearch {
  query(q: WikiQuery): Promise<Found>;
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
const MAX_TERMS = 96;
/** So many of a phrasing's best are looked at for whether it agrees with the others. */
const AGREEING = 3;

/** Makes the search of one wiki. Nothing is read or indexed before the first question. */
export function makeWikiSearch(store: SearchedStore, powers: SearchPowers): WikiSearch {
  const ranking = powers.ranking ?? RANKING;
  const indexes = makeKeptIndexes(store, powers.files, ranking);
  const retrieve = makeRetrieval(store, ranking);
  const embedding = makeEmbedding(store, indexes);

  const find = (q: WikiQuery): Found => {
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
    const terms = [...new Set(asked.flatMap((each) => each.terms))].slice(0, MAX_TERMS);
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
    const hits = makeHits(store, ranked, { k, clearance, now, weights });
    const counted = store.sources.count(clearance);
    const [best] = ranked;
    const agreed =
      asked.filter((each) =>
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
  };

  return Object.freeze<WikiSearch>({
    query: (q) => Promise.try(() => indexes.sound(() => find(q))),
    rebuild: () => Promise.try(() => indexes.rebuild()),
    state: () => indexes.state(),
    save: () => Promise.try(() => indexes.save()),
    embedPlan: (...asked) => indexes.sound(() => embedding.plan(...asked)),
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

// Whether what was found answers, by what of the question is there. docs/retrieval.md says how the
// bounds were found.

/** What {@link fitOf} looks at. Weights are how rare a word is. */
interface FitSigns {
  /** Share of the question's weight that one of the best passages holds, 0 to 1. */
  readonly held: number;
  /** Share of the question's weight in words that no visible passage holds at all. */
  readonly unknown: number;
  /** The largest cosine; undefined without vectors. */
  readonly near: number | undefined;
}

/** How many passages are looked at. */
const LOOKED_AT = 5;
/** Among fewer passages a word that is missing says less than it seems to. */
const FEWEST_PASSAGES = 1_000;

/** Bounds, found on the tuning half: words that are nowhere and words that are not together both speak against an answer. */
const AGAINST = { apart: 0.4, held: 0.6, most: 0.5 };
const LEAST_HELD = 0.2;
/** Phrasings that fit well, and the mean share that they hold, from which on there is an answer. */
const GOOD_TOGETHER = 2;
const HELD_TOGETHER = 0.55;
/** One that fits well is enough where so many of the others lead to the same passage. */
const AGREED = 0.75;
const FAR = { near: 0.3, held: 0.5 };

/** The signs of a question's result. `scored` is best first. */
function fitSigns(
  terms: readonly string[],
  scored: readonly Scored[],
  statistics: Statistics,
  near: number | undefined,
): FitSigns {
  const over = { ...statistics, passages: Math.max(statistics.passages, FEWEST_PASSAGES) };
  const sum = (some: readonly string[]): number =>
    some.reduce((weight, term) => weight + rarity(term, over), 0);
  const total = sum(terms);
  // Pairs of letters across the ends of words are unknown in any text; they say nothing.
  const unknown = terms.filter((term) => statistics.frequency.get(term) === 0 && !isUnspaced(term));
  return {
    held: Math.max(0, ...scored.slice(0, LOOKED_AT).map((each) => each.covered)),
    unknown: total === 0 ? 1 : sum(unknown) / total,
    near,
  };
}

/** `none` where what matters of the question is nowhere, or nowhere together; `good` where most of it is in one place. */
function fitOf({ held, unknown, near }: FitSigns): Found["fit"] {
  const against = unknown + AGAINST.apart * Math.max(0, AGAINST.held - held);
  if (against >= AGAINST.most || held < LEAST_HELD) return "none";
  if (near !== undefined && near < FAR.near && held < FAR.held) return "none";
  return held < AGAINST.held ? "weak" : "good";
}

/**
 * Whether a question that was asked in several phrasings is answered: by what most of them find, not by the luckiest. `agreed` is the share
 * of them that have the passage among their best which all together put first.
 */
function fitOfAll(all: readonly FitSigns[], agreed: number): Found["fit"] {
  const fits = all.map(fitOf);
  if (all.length < 2) return fits[0] ?? "none";
  const good = fits.filter((fit) => fit === "good").length;
  if (good >= GOOD_TOGETHER) return "good";
  const held = all.reduce((sum, each) => sum + each.held, 0) / all.length;
  return held >= HELD_TOGETHER || (good > 0 && agreed >= AGREED) ? "weak" : "none";
}

interface Embedding {
  plan(
    embedder: string,
    limit: number,
    clearance?: Label,
  ): readonly { readonly key: string; readonly text: string }[];
  taken(
    embedder: string,
    vectors: readonly { readonly key: string; readonly vector: readonly number[] }[],
  ): void;
}

/** Longest text that is given to an embedder, UTF-16 code units. */
const MAX_TEXT = 4_000;
const ASKED_AT_ONCE = 500;
const MAX_DIMENSIONS = 4_096;
const KEY = /^(?:chunk:\d+|page:[^:]{1,480}:\d+:\d+)$/;

/** Makes the plan of vectors of one wiki: sources first, then pages. */
function makeEmbedding(store: SearchedStore, indexes: Pick<KeptIndexes, "of">): Embedding {
  const known = new Map<string, Set<string>>();
  const pageTexts = (embedder: string, clearance: Label, limit: number) => {
    const pages = indexes.of(clearance);
    const places = [...pages.places()].map(({ name, version, n }) => ({
      key: pageVectorKey(name, version, n),
      name,
      n,
    }));
    return withoutVector(embedder, places, limit).flatMap(({ key, name, n }) => {
      const passage = pages.passage(name, n);
      const page = passage === undefined ? undefined : store.pages.find(name);
      if (passage === undefined || page === undefined) return [];
      const lines = (store.pages.text(page.name, passage.version) ?? "").split("\n");
      const body = lines.slice(passage.startLine - 1, passage.endLine).join("\n");
      return [{ key, text: textOf([page.title, ...passage.headings], body) }];
    });
  };

  /** The first of `places` that have no vector; what was found to have one is not asked for again. */
  const withoutVector = <Place extends { readonly key: string }>(
    embedder: string,
    places: readonly Place[],
    limit: number,
  ): readonly Place[] => {
    const had = known.get(embedder) ?? new Set();
    known.set(embedder, had);
    const missing: Place[] = [];
    const open = places.filter(({ key }) => !had.has(key));
    for (let at = 0; at < open.length && missing.length < limit; at += ASKED_AT_ONCE) {
      const some = open.slice(at, at + ASKED_AT_ONCE);
      const there = readVectors(store, embedder, some.map(({ key }) => key));
      for (const key of there.keys()) had.add(key);
      missing.push(...some.filter(({ key }) => !there.has(key)));
    }
    return missing.slice(0, limit);
  };

  return Object.freeze<Embedding>({
    plan(embedder, limit, clearance = "secret") {
      const chunks = store.vectors.missing(embedder, clearance, limit).flatMap((chunk) => {
        const source = store.sources.byId(chunk.source);
        if (source === undefined) return [];
        const text = textOf([source.title, chunk.heading], store.sources.passage(chunk));
        return [{ key: chunkVectorKey(chunk.id), text }];
      });
      if (chunks.length >= limit) return chunks;
      return [...chunks, ...pageTexts(embedder, clearance, limit - chunks.length)];
    },
    taken(embedder, vectors) {
      for (const { key, vector } of vectors) {
        const sound = KEY.test(key) && vector.length > 0 && vector.length <= MAX_DIMENSIONS &&
          vector.every(Number.isFinite);
        if (!sound) {
          throw new Fault(
            "invalidInput",
            `Cannot keep a vector: "${key.slice(0, 80)}" is not sound`,
          );
        }
      }
      store.vectors.put(
        embedder,
        vectors.map(({ key, vector }) => ({ key, vector: Float32Array.from(vector) })),
      );
    },
  });
}

/** What it is about, and what it says. */
function textOf(titles: readonly string[], body: string): string {
  return [...new Set(titles.filter((title) => title !== ""))].concat(body).join("\n")
    .slice(0, MAX_TEXT);
}
