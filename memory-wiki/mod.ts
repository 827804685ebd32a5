/**
 * The wiki as the kernel uses it: agents' tools over a wiki's process, whose entry is main.ts. People use
 * `remit wiki`.
 *
 * @example
 * ```ts
 * import { MEMORY_DESCRIPTORS } from "./mod.ts";
 * if (MEMORY_DESCRIPTORS.wiki_propose.category !== "mutate") throw new Error("it writes");
 * ```
 * @module
 */
export { bindMemory, MEMORY_DESCRIPTORS } from "./tools/mod.ts";
