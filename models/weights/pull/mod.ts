/**
 * Downloading weights: the catalogue (models.yaml), and pulling an entry into the store.
 *
 * @example
 * ```ts
 * import { findEntry } from "./mod.ts";
 * try {
 *   findEntry([], "tiny");
 * } catch (error) {
 *   if (!String(error).includes("the catalogue has nothing")) throw error;
 * }
 * ```
 * @module
 */
export { findEntry, readCatalogue } from "./catalogue.ts";
export { pullWeights } from "./pull.ts";
