/** Whether what was found answers, by what of the question is there. docs/retrieval.md says how the bounds were found. @module */
import type { Found } from "../../contracts/mod.ts";
import { isUnspaced } from "./_unicode_terms.ts";
import { rarity, type Scored, type Statistics } from "./score.ts";

/** What {@link fitOf} looks at. Weights are how rare a word is. */
export interface FitSigns {
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
export function fitSigns(
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
export function fitOfAll(all: readonly FitSigns[], agreed: number): Found["fit"] {
  const fits = all.map(fitOf);
  if (all.length < 2) return fits[0] ?? "none";
  const good = fits.filter((fit) => fit === "good").length;
  if (good >= GOOD_TOGETHER) return "good";
  const held = all.reduce((sum, each) => sum + each.held, 0) / all.length;
  return held >= HELD_TOGETHER || (good > 0 && agreed >= AGREED) ? "weak" : "none";
}
