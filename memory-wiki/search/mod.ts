/**
 * Search for passages in a wiki: words, a stored index, ranking, fusion.
 *
 * @example
 * ```ts
 * import { makeWikiSearch, type WikiSearch } from "./mod.ts";
 * async function ask(search: WikiSearch): Promise<string | undefined> {
 *   const { hits } = await search.query({ text: "what is a lease?", k: 5, clearance: "internal" });
 *   return hits[0]?.text;
 * }
 * ```
 * @module
 */
export { termsOf } from "./terms.ts";
export { makeIndexFiles } from "./index_files_powers.ts";
export { makeWikiSearch, type WikiSearch } from "./search.ts";
