/** The hands of the commands over imported servers, with this process's own rights. @module */
import { changedAt, findProgram, hashFile } from "./find_powers.ts";
import type { McpStoreHands, TreeName } from "./hands.ts";
import { findPython } from "./python_powers.ts";
import { runStep } from "./step_powers.ts";
import { dropTree, keepTree, type TreeDigester, treeFiles } from "./tree_powers.ts";

/** What they are made of. */
export interface McpStoreParts {
  readonly digestTree: TreeDigester;
  /** Builds the programs of the bridge. */
  ready(): Promise<void>;
}

/** Makes them. */
export function makeMcpStore(parts: McpStoreParts): McpStoreHands {
  return Object.freeze({
    exclusively,
    step: runStep,
    draft(trees: string): string {
      Deno.mkdirSync(trees, { recursive: true, mode: 0o700 });
      return Deno.makeTempDirSync({ dir: trees, prefix: ".new-" });
    },
    files: treeFiles,
    keep: (draft: string, to: TreeName) => keepTree(draft, to, parts.digestTree),
    drop: dropTree,
    changedAt,
    hashFile,
    find: findProgram,
    python: findPython,
    ready: parts.ready,
    deno: Deno.realPathSync(Deno.execPath()),
  });
}

function exclusively<T>(folder: string, work: () => T): T {
  using held = Deno.openSync(folder, { read: true });
  // Given back with the descriptor, however this process ends.
  held.lockSync(true);
  return work();
}
