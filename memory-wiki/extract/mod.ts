/**
 * Ingestion without a model: pages of cited sentences that rules select from the sources.
 *
 * @example
 * ```ts
 * import type { ExtractOptions } from "./mod.ts";
 * const options: ExtractOptions = { now: () => 0, dryRun: true };
 * ```
 * @module
 */
export { type ExtractOptions, extractPages } from "./extract_pages.ts";
