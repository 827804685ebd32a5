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
export function fitOf({ held, unknown, near }: FitSigns): Found["fit"] {
  const against = unknown + AGAINST.apart * Math.max(0, AGAINST.held - held);
  if (against >= AGAINST.most || held < LEAST_HELD) return "none";
  if (near !== undefined && near < FAR.near && held < FAR.held) return "none";
  return held < AGAINST.held ? "weak" : "good";
}
