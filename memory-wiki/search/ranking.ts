/** The numbers that ranking goes by, chosen on the tuning half of the question set. docs/retrieval.md. @module */

/** See {@link RANKING}. */
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
