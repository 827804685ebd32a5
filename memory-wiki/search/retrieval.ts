/** Retrieval for one question: candidates, common scores, vectors, fusion. Used by search.ts. @module */
import type { WikiQuery } from "../../contracts/wire/wire_wiki.ts";
import type { PageIndex } from "./page_index.ts";
import { findSources, type Passage, passageKey, type SearchedStore } from "./passage.ts";
import { makeScore, type Ranking, type Scored, type Statistics } from "./ranking.ts";
import { termsOf } from "./terms.ts";
import { alikeOf, spellingsOf } from "./thesaurus.ts";
import { makeNearness } from "./vector_space.ts";

/** Top passages that determine the coverage. */
const TOP_PASSAGES = 5;
/** Factor for extracted pages, which repeat their sources. */
const EXTRACTED_FACTOR = 0.5;
/** Passages below which a synonym is never too common. */
const MIN_COMMON = 50;

/** Input of a retrieval. */
export interface RetrievalContext {
  readonly terms: readonly string[];
  readonly pages: PageIndex;
  readonly now: number;
}

/** Result of a retrieval. */
export interface Retrieved {
  /** Best first, with fused scores. */
  readonly ranked: readonly (readonly [Passage, number])[];
  /** Synonyms and spellings that were searched, by term. */
  readonly alike: ReadonlyMap<string, readonly string[]>;
  /** Scores by the question's own terms, best first. */
  readonly scored: readonly Scored[];
  readonly statistics: Statistics;
  /** The largest cosine; undefined without vectors. */
  readonly near: number | undefined;
}

/** Makes the retrieval of a wiki. */
export function makeRetrieval(
  store: SearchedStore,
  ranking: Ranking,
): (q: WikiQuery, context: RetrievalContext) => Retrieved {
  const nearness = makeNearness(store);

  const listsOf = (terms: readonly string[], limit: number, { q, pages, now }: Asked) => [
    q.within === "sources" ? [] : pages.find(terms, limit),
    q.within === "pages" ? [] : findSources(store, terms, { clearance: q.clearance, limit, now }),
  ];

  return (q, { terms, pages, now }) => {
    const limit = Math.max(ranking.candidates, q.k);
    const known = statistics(store, pages, terms, q);
    const lists = listsOf(terms, limit, { q, pages, now });
    const found = new Map<string, Passage>();
    const take = (passages: readonly Passage[]): void => {
      for (const passage of passages) found.set(passageKey(passage), passage);
    };
    lists.forEach(take);
    const scored = ordered([...found.values()].map(makeScore(terms, known, ranking)));
    const held = Math.max(0, ...scored.slice(0, TOP_PASSAGES).map(({ covered }) => covered));
    const alike = new Map(held < ranking.alikeBelow ? alikeOf(terms) : []);
    const spelled = spellingsOf(
      q.text,
      terms,
      (words) => statistics(store, pages, words, q).frequency,
    );
    for (const [term, words] of spelled) alike.set(term, [...alike.get(term) ?? [], ...words]);
    const all = [...terms, ...new Set([...alike.values()].flat())];
    const wide = alike.size === 0 ? known : statistics(store, pages, all, q);
    if (alike.size > 0) {
      const telling = tellingOf(terms, all, wide, ranking.alikeCommon);
      listsOf(telling, Math.max(ranking.alikeCandidates, q.k), { q, pages, now }).forEach(take);
    }
    const near = nearness(q, { pages, now, limit, candidates: [...found.values()] });
    take(near?.passages ?? []);

    // With terms missing, ranks by the question's words say little.
    const listed = alike.size > 0 ? 0 : ranking.listed;
    const ranks = fuse(
      lists.map((list) => ({ keys: list.map(passageKey), weight: listed })),
      ranking.smooth,
    );
    const what = asksWhatItIs(q.text, terms);
    const leadWeight = what ? ranking.leadOfWhat : ranking.lead;
    const nearWeight = ranking.vectors * Math.max(0, 1 - held);
    const scoreOf = makeScore(terms, wide, ranking, alike);
    const scores = new Map(Array.from(found, ([key, passage]) => {
      // A section headed "Definition" gets the full bonus wherever it is.
      const behind = what && isDefinition(passage) ? 0 : passage.startLine - 1;
      const lead = leadWeight / (1 + behind / ranking.leadLines);
      const cosine = near?.cosines.get(key) ?? 0;
      const rank = ranks.get(key) ?? 0;
      const score = scoreOf(passage).score + lead + rank + nearWeight * cosine;
      // An extracted page repeats its sources, so it ranks high only as a definition.
      const repeats = passage.kind === "page" && !(what && isDefinition(passage)) &&
        store.pages.find(passage.name)?.confidence === "extracted";
      return [key, repeats ? score * EXTRACTED_FACTOR : score];
    }));
    const ranked = inOrder(scores).flatMap(([key, score]) => {
      const passage = found.get(key);
      return passage === undefined ? [] : [[passage, score] as const];
    });
    return { ranked, scored, statistics: wide, alike, near: near?.largest };
  };
}

function isDefinition({ headings }: Passage): boolean {
  return /^definitions?$/i.test(headings.at(-1) ?? "");
}

/** A question with what its lists need. */
interface Asked {
  readonly q: WikiQuery;
  readonly pages: PageIndex;
  readonly now: number;
}

/** The question's terms, and those synonyms that occur and are not too common. */
function tellingOf(
  terms: readonly string[],
  all: readonly string[],
  { frequency, passages }: Statistics,
  share: number,
): readonly string[] {
  const max = Math.max(MIN_COMMON, share * passages);
  return all.filter((term, n) => {
    const holding = frequency.get(term) ?? 0;
    return n < terms.length || (holding > 0 && holding <= max);
  });
}

function ordered(scored: readonly Scored[]): readonly Scored[] {
  return scored.filter(({ score }) => score > 0).sort((a, b) =>
    b.score - a.score || (passageKey(a.passage) < passageKey(b.passage) ? -1 : 1)
  );
}

/** Statistics over the pages and sources that are searched. */
function statistics(
  store: SearchedStore,
  pages: PageIndex,
  terms: readonly string[],
  { clearance, within }: WikiQuery,
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

// Reciprocal rank fusion. Cormack 2009.

/** A list, best first, with its weight. */
interface Ranked {
  readonly keys: readonly string[];
  readonly weight: number;
}

/** Scores of all keys: the sum over the lists of weight / (rank + `smooth`). */
export function fuse(lists: readonly Ranked[], smooth: number): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  for (const { keys, weight } of lists) {
    keys.forEach((key, n) => {
      scores.set(key, (scores.get(key) ?? 0) + weight / (smooth + n + 1));
    });
  }
  return scores;
}

/** Keys with scores, best first; ties by key, so that the result is deterministic. */
export function inOrder(
  scores: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return [...scores].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : a > b ? 1 : 0));
}

// Terms of a question.

/** Terms of a question that are searched. */
const MAX_QUERY_TERMS = 32;

/** Words of questions without topic, as terms. */
const STOP: ReadonlySet<string> = new Set(
  termsOf(
    `a about after all also am an and any anyone are as at be because been being but by can cannot could did do does
    doing done don't for from get gets getting give given gives had has have having he her here him his how i if in into is it
    it's its just let like made make makes many may me might more most much must my need needs no nor not now of off on
    one only onto or other our out over own please shall she should so some such tell than that the their them then
    there these they thing things this those to too us use used uses using very want wants was way we were what what's when where
    whether which while who whom whose why will with within without would you your`,
  ),
);

/** The distinct terms of a question in order, without stop words if others remain. */
export function queryTerms(text: string): readonly string[] {
  const all = [...new Set(termsOf(text))];
  const telling = all.filter((term) => !STOP.has(term));
  return (telling.length > 0 ? telling : all).slice(0, MAX_QUERY_TERMS);
}

const WHAT_IS =
  /^\W*(?:(?:what|who)(?:\s+(?:is|are|was|were)|'s|’s)|define|definition\s+of|meaning\s+of)\b/i;
const MAX_DEFINED = 3;

/** Whether a question asks what something is; the beginning of a text answers that best. */
function asksWhatItIs(text: string, terms: readonly string[]): boolean {
  return terms.length <= MAX_DEFINED && (WHAT_IS.test(text) || terms.length === 1);
}
