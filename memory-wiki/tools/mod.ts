/**
 * The memory's tools as the gate knows them: bound to a task, over whatever asks its wiki's process.
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

export { MEMORY_DESCRIPTORS, type MemoryTool } from "./descriptors.ts";

/** A task's memory. */
export interface BoundMemory {
  readonly bindings: readonly ToolBinding[];
  /** Looks at what a proposed page would change, before it is decided. Never rejects. */
  prepare(
    call: { readonly name: string; readonly arguments: string },
    task: TaskId,
    signal: AbortSignal,
  ): Promise<void>;
  /** What a plugin's `memory.query` finds, with the colour and label of all of it. */
  query(
    asked: { readonly text: string; readonly k: number },
    signal: AbortSignal,
  ): Promise<FoundHits & ReturnType<typeof taintOf>>;
}

/** Binds what the task's memory allows: reading always, pages and notes as far as it says. */
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
    async query(asked, signal): Promise<FoundHits & ReturnType<typeof taintOf>> {
      const found = await query(parts, asked, signal);
      return { ...found, ...taintOf(found.hits) };
    },
  });
}
