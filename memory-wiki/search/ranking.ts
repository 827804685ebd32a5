/** Parameters of the ranking, tuned on half of the question set (docs/retrieval.md), and the scores. @module */
import type { Passage } from "./passage.ts";

export interface Ranking {
  /** Pages (BM25): saturation, length normalisation with the average length, weights of title and headings. */
  readonly pageSaturation: number;
  readonly pageLength: number;
  readonly pageWords: number;
  readonly pageTitle: number;
  readonly pageHeadings: number;
  /** Minimum candidates per list. */
  readonly candidates: number;
  /** BM25F: saturation, length normalisation, weights of title and headings. */
  readonly k1: number;
  readonly b: number;
  readonly title: number;
  readonly headings: number;
  /** Weight of proximity. */
  readonly proximity: number;
  /** Exponent of the coverage: the share of the question's weight in the passage. */
  readonly coverage: number;
  /** Rank fusion of the lists' own orders: smoothing, and weight. */
  readonly smooth: number;
  readonly listed: number;
  /** Bonus for the beginning of a text. */
  readonly lead: number;
  /** The same for a question what something is; and the lines after which the bonus halves. */
  readonly leadOfWhat: number;
  readonly leadLines: number;
  /** Below this coverage, synonyms are searched, too (thesaurus.ts); weight of a synonym. */
  readonly alikeBelow: number;
  readonly alike: number;
  /** Candidates of that second search, and the share of passages above which a synonym is too common. */
  readonly alikeCandidates: number;
  readonly alikeCommon: number;
  /** Weight of the cosine, multiplied by the share of the question that no passage covers. */
  readonly vectors: number;
}

/** The best values measured. */
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

// Scores passages of pages and sources on one scale: BM25F over title, headings and body (Robertson and
// Zaragoza 2009), proximity (Büttcher 2006), and coverage of the question.

/** Statistics over exactly what the caller may see. */
export interface Statistics {
  readonly passages: number;
  readonly averageTerms: number;
  /** Number of passages by term. */
  readonly frequency: ReadonlyMap<string, number>;
}

/** A passage's score and coverage. */
export interface Scored {
  readonly passage: Passage;
  /** About 1 for a passage with all terms of the question; more for repeated terms or terms in the title. */
  readonly score: number;
  /** Share of the weight of the terms in the passage, from 0 to 1. */
  readonly covered: number;
}

/** Inverse document frequency of a term. Never negative. */
export function rarity(term: string, { passages, frequency }: Statistics): number {
  const holding = Math.min(frequency.get(term) ?? 0, passages);
  return Math.log(1 + (passages - holding + 0.5) / (holding + 0.5));
}

/**
 * Makes the scoring function of a question. Synonyms (`alike`) in place of a term count in part; `covered`
 * considers the terms only.
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
  // A synonym more common than its term counts less.
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

/** In a short field each term counts once. */
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
