/**
 * The way to the network. For now it is described, and closed.
 *
 * @example
 * ```ts
 * import { originOf } from "./mod.ts";
 * originOf("https://example.org/"); // "https://example.org"
 * ```
 * @module
 */
export { httpFetchBinding, originOf } from "./http_fetch.ts";
