/** Whether two facts cannot both be right, and in what. Precise rather than eager. @module */
import { datesClash, type Role } from "./dates.ts";
import type { Fact } from "./fact.ts";
import { quantitiesClash } from "./quantities.ts";
import { stem } from "./stem.ts";
import { OFTEN, ONCE } from "./vocabulary.ts";

/** In what two facts differ. */
export type Clash = "number" | "date" | "negation";

/** Says in what `a` and `b`, which have one key, contradict each other; undefined when they may both be right. */
export function clashOf(a: Fact, b: Fact): Clash | undefined {
  if (a.key !== b.key) return undefined;
  if (a.order !== b.order && (a.ordered || b.ordered)) return undefined;
  if (!sameUnits(a, b) || a.dates.length !== b.dates.length) return undefined;
  const numbers = pairs(a.quantities, b.quantities, ({ unit }) => unit)
    .filter(([one, other]) => quantitiesClash(one, other)).length;
  const dates = a.dates.filter((date, index) => {
    const other = b.dates[index];
    return other !== undefined && (date.role !== other.role || datesClash(date, other));
  });
  if (a.negative !== b.negative) {
    if (numbers > 0 || dates.length > 0 || a.hedged || b.hedged || a.past !== b.past) {
      return undefined;
    }
    // "It may be late" and "it may not be late" are both a doubt.
    if (a.modal !== undefined && (a.negative ? a : b).modal !== "strict") return undefined;
    return a.order === b.order ? "negation" : undefined;
  }
  if (numbers === 1 && dates.length === 0 && a.past === b.past) return "number";
  if (numbers > 0 || dates.length !== 1) return undefined;
  const [only] = dates;
  const other = only === undefined ? undefined : b.dates[a.dates.indexOf(only)];
  if (only?.role !== other?.role || a.negative || !happensOnce(a, only?.role)) return undefined;
  return "date";
}

const AGAIN: ReadonlySet<string> = new Set([...OFTEN].map(stem));

/** Two dates for a thing that happens again and again are both right. */
function happensOnce({ key }: Fact, role: Role | undefined): boolean {
  const terms = key.split(" ");
  if (terms.some((term) => AGAIN.has(term))) return false;
  // What lasts until a day ends once.
  return (role !== undefined && role !== "at") || terms.some((term) => ONCE.has(term));
}

function sameUnits(a: Fact, b: Fact): boolean {
  if (a.quantities.length !== b.quantities.length) return false;
  const units = (fact: Fact): string => fact.quantities.map(({ unit }) => unit).sort().join(" ");
  return units(a) === units(b);
}

/** Pairs of the same unit, in the order in which they were said. */
function pairs<T>(
  a: readonly T[],
  b: readonly T[],
  key: (item: T) => string,
): readonly (readonly [T, T])[] {
  const left = b.slice();
  return a.flatMap((one) => {
    const at = left.findIndex((other) => key(other) === key(one));
    const other = left[at];
    if (other === undefined) return [];
    left.splice(at, 1);
    return [[one, other] as const];
  });
}
