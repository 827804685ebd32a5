/** Facts by what they are about: each new one meets those that say otherwise, never all others. @module */
import { type Clash, clashOf } from "./clash.ts";
import type { Fact } from "./fact.ts";

/** So many differing facts of one key are kept; more would say nothing new. */
const MOST_OF_KEY = 12;

/** Facts with where they stand. */
export interface FactTable<Place> {
  /** Keeps `fact` and gives those that it contradicts, in the order in which they came. */
  meet(
    fact: Fact,
    place: Place,
  ): readonly { readonly place: Place; readonly fact: Fact; readonly clash: Clash }[];
}

/** Whether two facts of one key say the very same, so that one of them stands for both. */
function sameSaying(a: Fact, b: Fact): boolean {
  if (a.negative !== b.negative || a.order !== b.order) return false;
  if (a.quantities.length + b.quantities.length + a.dates.length + b.dates.length === 0) {
    return true;
  }
  return JSON.stringify([a.quantities, a.dates]) === JSON.stringify([b.quantities, b.dates]);
}

/** Makes an empty table. `apart` says whether two places may contradict each other at all. */
export function makeFactTable<Place>(apart: (a: Place, b: Place) => boolean): FactTable<Place> {
  type Kept = { readonly fact: Fact; readonly place: Place };
  // Most keys have one fact: it is kept without a list of its own.
  const byKey = new Map<string, Kept | Kept[]>();
  return Object.freeze(
    {
      meet(fact, place) {
        const found = byKey.get(fact.key);
        if (found === undefined) {
          byKey.set(fact.key, { fact, place });
          return [];
        }
        const known = Array.isArray(found) ? found : [found];
        if (!Array.isArray(found)) byKey.set(fact.key, known);
        const met = known.flatMap((other) => {
          const clash = apart(other.place, place) ? clashOf(other.fact, fact) : undefined;
          return clash === undefined ? [] : [{ ...other, clash }];
        });
        if (known.length < MOST_OF_KEY && !known.some((other) => sameSaying(other.fact, fact))) {
          known.push({ fact, place });
        }
        return met;
      },
    } satisfies FactTable<Place>,
  );
}
