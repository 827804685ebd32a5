/**
 * Search over a wiki: passages of pages and of sources (FTS5), scored on one scale and fused with vectors if
 * there are any. Only what the caller's clearance covers is read. docs/retrieval.md. Used by
 * memory-wiki/open_wiki_powers.ts and memory-wiki/ops/op.ts.
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

/** Powers of the search. */
export interface SearchPowers {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly files: IndexFiles;
  /** Replaces {@link RANKING} for measurements. */
  readonly ranking?: Ranking;
}

/** Search over one wiki; a query sees only what its clearance covers. */
export interface WikiSearch {
  query(q: WikiQuery): Promise<Found>;
  /** Rebuilds all existing indexes. */
  rebuild(): Promise<void>;
  /** State of the index used last; `missing` without one in memory or file. */
  state(): "fresh" | "behind" | "missing";
  /** Stores the indexes in memory, so that the next process need not index. */
  save(): Promise<void>;
  /** Texts within `clearance` (all by default) without a vector of this embedder, at most `limit`. */
  embedPlan(
    embedder: string,
    limit: number,
    clearance?: Label,
  ): readonly { readonly key: string; readonly text: string }[];
  /** Stores vectors for keys of {@link WikiSearch.embedPlan}. */
  embedTaken(
    embedder: string,
    vectors: readonly { readonly key: string; readonly vector: readonly number[] }[],
  ): void;
}

/** Terms of a question with all its phrasings. */
const MAX_TERMS = 96;
/** Top passages per phrasing that are compared for agreement. */
const TOP_AGREEING = 3;

/** Makes the search of a wiki. Reads and indexes nothing before the first question. */
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
      // The vector belongs to the question itself.
      look(text, queryTerms(text), n === 0 ? q.vector : undefined)
    );
    const asked = first === undefined ? [] : [first, ...others];
    const terms = [...new Set(asked.flatMap((each) => each.terms))].slice(0, MAX_TERMS);
    // All phrasings together, too, for passages with words of several phrasings.
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
        each.ranked.slice(0, TOP_AGREEING).some(([passage]) =>
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

/** The question and its other phrasings, without duplicates. */
function phrasings({ text, queries = [] }: WikiQuery): readonly string[] {
  const told = new Set<string>();
  return [text, ...queries].filter((each) => {
    const key = queryTerms(each).toSorted().join(" ");
    if (told.has(key)) return false;
    told.add(key);
    return true;
  });
}

/** Merges the orders of all phrasings; a passage that is first in all scores 1. */
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

// Decides whether the result answers the question. docs/retrieval.md describes how the thresholds were found.

/** Evidence for {@link fitOf}, weighted by rarity. */
interface FitSigns {
  /** The best coverage among the top passages, 0 to 1. */
  readonly held: number;
  /** Share of the question's weight in words that no visible passage contains. */
  readonly unknown: number;
  /** The largest cosine; undefined without vectors. */
  readonly near: number | undefined;
}

/** Top passages considered. */
const TOP_PASSAGES = 5;
/** With fewer passages a missing word says less. */
const MIN_PASSAGES = 1_000;

/** Thresholds from the tuning set: missing words and low coverage both count against an answer. */
const AGAINST = { apart: 0.4, held: 0.6, max: 0.5 };
const MIN_HELD = 0.2;
/** Good phrasings, and mean coverage, that suffice for an answer. */
const GOOD_TOGETHER = 2;
const HELD_TOGETHER = 0.55;
/** Agreement with which one good phrasing suffices. */
const MIN_AGREED = 0.75;
const FAR = { near: 0.3, held: 0.5 };

/** Evidence of a question's result. `scored` is best first. */
function fitSigns(
  terms: readonly string[],
  scored: readonly Scored[],
  statistics: Statistics,
  near: number | undefined,
): FitSigns {
  const over = { ...statistics, passages: Math.max(statistics.passages, MIN_PASSAGES) };
  const sum = (some: readonly string[]): number =>
    some.reduce((weight, term) => weight + rarity(term, over), 0);
  const total = sum(terms);
  // Bigrams across words are missing in any text and say nothing.
  const unknown = terms.filter((term) => statistics.frequency.get(term) === 0 && !isUnspaced(term));
  return {
    held: Math.max(0, ...scored.slice(0, TOP_PASSAGES).map((each) => each.covered)),
    unknown: total === 0 ? 1 : sum(unknown) / total,
    near,
  };
}

/** `none` if the important words are missing or never together; `good` if one passage has most of them. */
function fitOf({ held, unknown, near }: FitSigns): Found["fit"] {
  const against = unknown + AGAINST.apart * Math.max(0, AGAINST.held - held);
  if (against >= AGAINST.max || held < MIN_HELD) return "none";
  if (near !== undefined && near < FAR.near && held < FAR.held) return "none";
  return held < AGAINST.held ? "weak" : "good";
}

/**
 * The fit of a question with several phrasings, by most of them rather than the best. `agreed`: share of
 * phrasings with the overall best passage among their top ones.
 */
function fitOfAll(all: readonly FitSigns[], agreed: number): Found["fit"] {
  const fits = all.map(fitOf);
  if (all.length < 2) return fits[0] ?? "none";
  const good = fits.filter((fit) => fit === "good").length;
  if (good >= GOOD_TOGETHER) return "good";
  const held = all.reduce((sum, each) => sum + each.held, 0) / all.length;
  return held >= HELD_TOGETHER || (good > 0 && agreed >= MIN_AGREED) ? "weak" : "none";
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

/** UTF-16 units of a text to embed. */
const MAX_TEXT = 4_000;
const ASKED_AT_ONCE = 500;
const MAX_DIMENSIONS = 4_096;
const KEY = /^(?:chunk:\d+|page:[^:]{1,480}:\d+:\d+)$/;

/** Plans vectors of a wiki: sources first, then pages. */
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

  /** The first of `places` without a vector; known vectors are cached. */
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

/** Titles, then text. */
function textOf(titles: readonly string[], body: string): string {
  return [...new Set(titles.filter((title) => title !== ""))].concat(body).join("\n")
    .slice(0, MAX_TEXT);
}
