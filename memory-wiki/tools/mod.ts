/**
 * The memory's tools for the gate, bound to a task and its wiki's process.
 *
 * @example
 * ```ts
 * import { MEMORY_DESCRIPTORS } from "./mod.ts";
 * if (MEMORY_DESCRIPTORS.wiki_search.category !== "read") throw new Error("it only reads");
 * ```
 * @module
 */
import type { TaskId } from "../../contracts/authority/ids.ts";
import type { ToolBinding } from "../../contracts/task/power.ts";
import { type FoundHits, type MemoryParts, taintOf } from "./answers.ts";
import { bindNotes, bindProposing } from "./write_tools.ts";
import { bindReading, query } from "./read_tools.ts";
import type { Trust } from "../store/trust_rules.ts";

export { MEMORY_DESCRIPTORS, type MemoryTool } from "./descriptors.ts";

/** A task's memory. */
export interface BoundMemory {
  readonly bindings: readonly ToolBinding[];
  /** Checks a proposed page before it is decided. Never rejects. */
  prepare(
    call: { readonly name: string; readonly arguments: string },
    task: TaskId,
    signal: AbortSignal,
  ): Promise<void>;
  /** Result of a plugin's `memory.query`, with the combined trust. */
  query(
    asked: { readonly text: string; readonly k: number },
    signal: AbortSignal,
  ): Promise<FoundHits & Trust>;
}

/** Binds the tools that the task's memory allows: reading always, proposals and notes depending on its access. */
export function bindMemory(parts: MemoryParts): BoundMemory {
  const { access, user } = parts.memory;
  const proposing = access === "propose" ? bindProposing(parts) : undefined;
  return Object.freeze<BoundMemory>({
    bindings: [
      ...bindReading(parts),
      ...(proposing === undefined ? [] : [proposing.binding]),
      ...(access === "propose" || user === "write" ? [bindNotes(parts)] : []),
    ],
    prepare: (call, task, signal) => proposing?.prepare(call, task, signal) ?? Promise.resolve(),
    async query(asked, signal): Promise<FoundHits & Trust> {
      const found = await query(parts, asked, signal);
      return { ...found, ...taintOf(found.hits) };
    },
  });
}
