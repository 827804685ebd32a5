/** What a question looks for. @module */
import { termsOf } from "./terms.ts";

/** Most terms of a question that are looked for. */
const MOST_QUERY_TERMS = 32;

/** Words that say how one asks, not what about. As terms: folded and without endings. */
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

/** The distinct terms of a question, in its order; words without meaning only where there is nothing else. */
export function queryTerms(text: string): readonly string[] {
  const all = [...new Set(termsOf(text))];
  const telling = all.filter((term) => !STOP.has(term));
  return (telling.length > 0 ? telling : all).slice(0, MOST_QUERY_TERMS);
}

const WHAT_IS =
  /^\W*(?:(?:what|who)(?:\s+(?:is|are|was|were)|'s|’s)|define|definition\s+of|meaning\s+of)\b/i;
const MOST_DEFINED = 3;

/** Whether a question asks what something is: the beginning of its page or document says so more likely than the rest. */
export function asksWhatItIs(text: string, terms: readonly string[]): boolean {
  return terms.length <= MOST_DEFINED && (WHAT_IS.test(text) || terms.length === 1);
}
