/**
 * The ingest without a model: pages of sentences that rules choose from the sources, each cited.
 *
 * @example
 * ```ts
 * import type { ExtractOptions } from "./mod.ts";
 * const options: ExtractOptions = { now: () => 0, dryRun: true };
 * ```
 * @module
 */
export { type ExtractOptions, extractPages } from "./extract_pages.ts";
