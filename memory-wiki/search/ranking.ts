/** Numbers of the ranking, chosen on the tuning half of the question set (docs/retrieval.md), and the scores made with them. @module */
import type { Passage } from "./passage.ts";

export interface Ranking {
  /** Orama: saturation, length normalisation about so many words, and what a title and headings count. */
  readonly pageSaturation: number;
  readonly pageLength: number;
  readonly pageWords: number;
  readonly pageTitle: number;
  readonly pageHeadings: number;
  /** Candidates of each list, or as many as hits are asked for. */
  readonly candidates: number;
  /** BM25F: saturation, length normalisation, weight of title and headings. */
  readonly k1: number;
  readonly b: number;
  readonly title: number;
  readonly headings: number;
  /** How much nearness of the words counts. */
  readonly proximity: number;
  /** Power of the share of the question's weight that a passage holds. */
  readonly coverage: number;
  /** Rank fusion of what Orama and FTS5 say themselves: smoothing, and its weight beside the common scale. */
  readonly smooth: number;
  readonly listed: number;
  /** What a passage counts more for being its text's beginning, and after so many lines half of it. */
  readonly lead: number;
  /** The same where one asks what something is. */
  readonly leadOfWhat: number;
  readonly leadLines: number;
  /** A question that no passage holds this share of is asked again in like words (thesaurus.ts): what one of these counts beside the word itself. */
  readonly alikeBelow: number;
  readonly alike: number;
  /** Candidates of each list of that second asking, and the share of all passages from which on a like word says too little to be asked for. */
  readonly alikeCandidates: number;
  readonly alikeCommon: number;
  /** Weight of the cosine beside the score by words, times the share of the question that no passage holds: where all words are there, none. */
  readonly vectors: number;
}

/** What was measured best. */
export const RANKING: Ranking = Object.freeze({
  pageSaturation: 1.2,
  pageLength: 0.6,
  pageWords: 100,
  pageTitle: 0.7,
  pageHeadings: 0.4,
  candidates: 50,
  k1: 0.9,
  b: 0.3,
  title: 2,
  headings: 1,
  proximity: 0.1,
  coverage: 1,
  smooth: 10,
  listed: 0.4,
  lead: 0.1,
  leadOfWhat: 0.4,
  leadLines: 40,
  alikeBelow: 0.85,
  alike: 0.6,
  alikeCandidates: 100,
  alikeCommon: 0.05,
  vectors: 0.6,
});

// How well passages of pages and sources answer, on one scale: BM25F over title, headings and body
// (Robertson and Zaragoza 2009), nearness of the words (Büttcher 2006), and the share of the
// question that is there at all.

/** Of everything that the caller may see, and of nothing else. */
export interface Statistics {
  readonly passages: number;
  readonly averageTerms: number;
  /** In how many passages a term occurs. */
  readonly frequency: ReadonlyMap<string, number>;
}

/** A passage's score with what it was made of. */
export interface Scored {
  readonly passage: Passage;
  /** About 1 where the passage holds all that the question asks; more where it says it again and again, or in its title. */
  readonly score: number;
  /** Share of the weight of the wanted terms that the passage holds, from 0 to 1. */
  readonly covered: number;
}

/** How telling a term is: more the rarer it is. Never negative. */
export function rarity(term: string, { passages, frequency }: Statistics): number {
  const holding = Math.min(frequency.get(term) ?? 0, passages);
  return Math.log(1 + (passages - holding + 0.5) / (holding + 0.5));
}

/**
 * Makes the score of a question's terms. Where a passage holds a word that `alike` has for a term, that counts in part; `covered` is of the
 * terms alone.
 */
export function makeScore(
  terms: readonly string[],
  statistics: Statistics,
  ranking: Ranking,
  alike: ReadonlyMap<string, readonly string[]> = new Map(),
): (passage: Passage) => Scored {
  const asked = [...new Set([...terms, ...[...alike.values()].flat()])];
  const numbers = new Map(asked.map((term, n) => [term, n]));
  const weights = terms.map((term) => rarity(term, statistics));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const average = Math.max(1, statistics.averageTerms);
  // A like word that is commoner than what was asked says less.
  const standIns = terms.map((term, n) =>
    (alike.get(term) ?? []).map((like) => ({
      at: numbers.get(like) ?? 0,
      factor: ranking.alike * Math.min(1, rarity(like, statistics) / (weights[n] ?? 1)),
    }))
  );
  const saturated = (found: number): number => found * (ranking.k1 + 1) / (found + ranking.k1);

  return (passage) => {
    const counts = new Float64Array(asked.length);
    const near = new Float64Array(terms.length);
    count(passage.titleTerms, numbers, counts, ranking.title);
    count(passage.headingTerms, numbers, counts, ranking.headings);
    const length = passage.bodyTerms.length / average;
    const norm = 1 - ranking.b + ranking.b * length;
    const body = new Float64Array(asked.length);
    let before = -1;
    let beforeAt = 0;
    for (let at = 0; at < passage.bodyTerms.length; at++) {
      const n = numbers.get(passage.bodyTerms[at] ?? "");
      if (n === undefined) continue;
      body[n] = (body[n] ?? 0) + 1;
      if (n >= terms.length) continue;
      if (before >= 0 && before !== n) {
        const far = (at - beforeAt) ** 2;
        near[n] = (near[n] ?? 0) + (weights[before] ?? 0) / far;
        near[before] = (near[before] ?? 0) + (weights[n] ?? 0) / far;
      }
      before = n;
      beforeAt = at;
    }
    const found = (n: number): number => (counts[n] ?? 0) + (body[n] ?? 0) / norm;
    let score = 0;
    let covered = 0;
    let answered = 0;
    for (let n = 0; n < terms.length; n++) {
      const weight = weights[n] ?? 0;
      const own = saturated(found(n));
      if (own > 0) covered += weight;
      let like = 0;
      for (const { at, factor } of standIns[n] ?? []) {
        like = Math.max(like, factor * saturated(found(at)));
      }
      if (own === 0 && like === 0) continue;
      answered += weight * (own > 0 ? 1 : Math.min(1, like));
      score += weight * Math.max(own, like);
      const nearness = near[n] ?? 0;
      score += ranking.proximity * Math.min(1, weight) * nearness * (ranking.k1 + 1) /
        (nearness + ranking.k1 * norm);
    }
    if (total === 0) return { passage, score: 0, covered: 0 };
    score = score / total * (answered / total) ** ranking.coverage;
    return { passage, score, covered: covered / total };
  };
}

/** Each term of a short field counts once: a title that repeats itself says no more. */
function count(
  field: readonly string[],
  numbers: ReadonlyMap<string, number>,
  counts: Float64Array,
  weight: number,
): void {
  const seen = new Set<number>();
  for (const term of field) {
    const n = numbers.get(term);
    if (n === undefined || seen.has(n)) continue;
    seen.add(n);
    counts[n] = (counts[n] ?? 0) + weight;
  }
}
