/**
 * The wiki memory as the kernel wires it: agents' tools over a wiki's process. The process itself is
 * main.ts; people reach it with `remit wiki`.
 *
 * @example
 * ```ts
 * import { MEMORY_DESCRIPTORS } from "./mod.ts";
 * if (MEMORY_DESCRIPTORS.wiki_propose.category !== "mutate") throw new Error("it writes");
 * ```
 * @module
 */
export { bindMemory, MEMORY_DESCRIPTORS } from "./tools/mod.ts";
