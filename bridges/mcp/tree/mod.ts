/**
 * The tree of a server's code and its digest: written once, checked before each start.
 *
 * @example
 * ```ts
 * import { digestTree, TREE_DISK } from "./mod.ts";
 * const { sha256, files } = digestTree(import.meta.dirname ?? ".", TREE_DISK);
 * if (sha256.length !== 64 || files === 0) throw new Error("no digest");
 * ```
 * @module
 */
export { digestTree, makeTreeChecks, type TreeDisk } from "./check.ts";
export { TREE_DISK } from "./tree_disk_powers.ts";
