/** The real store of imported servers, for tests. @module */
import { digestTree, TREE_DISK } from "../../bridges/mcp/tree/mod.ts";
import { makeMcpStore } from "../../bridges/mcp/registry/store/store_powers.ts";
import type { McpStore } from "../../bridges/mcp/registry/store/store.ts";

/** Makes the store. */
export function realMcpStore(): McpStore {
  return makeMcpStore({
    digestTree: (folder) => digestTree(folder, TREE_DISK),
    ready: () => Promise.resolve(),
  });
}
