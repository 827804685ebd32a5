/** The real store of imported servers, for tests. @module */
import { digestTree, TREE_DISK } from "../../bridges/mcp/tree/mod.ts";
import { makeMcpStore } from "../mcp/store/hands_powers.ts";
import type { McpStoreHands } from "../mcp/store/hands.ts";

/** Makes it. */
export function realMcpStore(): McpStoreHands {
  return makeMcpStore({
    digestTree: (folder) => digestTree(folder, TREE_DISK),
    ready: () => Promise.resolve(),
  });
}
