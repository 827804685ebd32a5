/** What tests of the commands over imported servers share. @module */
import {
  diffWords,
  FLAG_WORDS,
  importedTool,
  reviewRows,
  serverFlags,
  toolDigest,
  translate,
} from "../../bridges/mcp/review/mod.ts";
import type { McpKit } from "../mcp/registry/kit.ts";

/** The review as main.ts wires it. */
export const REAL_REVIEW: McpKit = {
  ...{ translate, importedTool, serverFlags, reviewRows, diffWords, toolDigest },
  flagWords: FLAG_WORDS,
};
