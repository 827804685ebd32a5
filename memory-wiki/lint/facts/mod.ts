/**
 * Facts: claims in a form in which rules can detect contradictions of numbers with units, dates and negation.
 *
 * @example
 * ```ts
 * import { clashOf, factOf } from "./mod.ts";
 * const one = factOf("A lease lasts 30 seconds.");
 * const other = factOf("A lease lasts one minute.");
 * if (one === undefined || other === undefined || clashOf(one, other) !== "number") throw new Error();
 * ```
 * @module
 */

export { type Clash, clashOf } from "./fact.ts";
export { type Fact, factOf, isComparable } from "./fact.ts";
