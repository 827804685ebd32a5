/**
 * Claims in a form in which rules can tell that two of them cannot both be right: numbers with units, dates, negation.
 *
 * @example
 * ```ts
 * import { aboutTerms, clashOf, factOf } from "./mod.ts";
 * const place = { about: aboutTerms(["Lease"]), isSubject: () => false };
 * const one = factOf("A lease lasts 30 seconds.", place);
 * const other = factOf("A lease lasts one minute.", place);
 * if (one === undefined || other === undefined || clashOf(one, other) !== "number") throw new Error();
 * ```
 * @module
 */
export { type Clash, clashOf } from "./clash.ts";
export { aboutTerms, type Fact, factOf, isComparable } from "./fact.ts";
export { makeFactTable } from "./table.ts";
