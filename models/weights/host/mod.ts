/**
 * Host side of the store: large files on the disk, and llama.cpp's builds by Deno's own client.
 *
 * @example
 * ```ts
 * import { makeWeightsDisk } from "./mod.ts";
 * if (makeWeightsDisk().stat("/no/such/file") !== undefined) throw new Error("there is none");
 * ```
 * @module
 */
export { makeNativeEngine } from "./engine_powers.ts";
export { makeWeightsDisk } from "./files_powers.ts";
