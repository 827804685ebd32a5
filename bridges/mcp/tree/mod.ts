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
export { makeTreeChecks, statTable, type TreeChecks } from "./check.ts";
export { digestTree, type TreeDigest } from "./digest.ts";
export type { TreeDisk, TreeStat } from "./disk.ts";
export { TREE_DISK } from "./tree_disk_powers.ts";
export { walkTree } from "./walk.ts";
