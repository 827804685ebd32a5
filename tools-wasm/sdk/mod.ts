/**
 * The types of a script's `remit`, for Remit's own plugins that are scripts.
 *
 * @example
 * ```ts
 * import type { Remit } from "../sdk/mod.ts";
 * type Host = Pick<Remit, "http">;
 * ```
 * @module
 */
export type { FileEntry, FilePart, Remit, WebAnswer } from "./ts/remit.ts";
