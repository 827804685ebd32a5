/**
 * The review of imported MCP servers: a server's description of its tools is bounded, translated,
 * checked for deceptions and pinned. Pure functions only.
 *
 * @example
 * ```ts
 * import { McpServerName, NO_GRANTS } from "../../../contracts/exchange/mod.ts";
 * import { translate } from "./mod.ts";
 * const words = { name: "get-sum", description: "Adds.", inputSchema: { type: "object" } };
 * const launch = { kind: "http", url: "https://example.com/mcp" } as const;
 * const { tools } = translate(McpServerName.parse("sums"), [words], { grants: NO_GRANTS, launch });
 * if (tools[0]?.name !== "mcp_sums_get_sum") throw new Error("it has another name");
 * ```
 * @module
 */
export { changesOf, toolDigest } from "./tool_identity.ts";
export { type DiffLine, diffWords } from "./diff_words.ts";
export { FLAG_WORDS, type ToolFlag } from "./flag.ts";
export { makeFlagsOf, serverFlags } from "./flags.ts";
export {
  importedTool,
  OWN_TOOLS,
  type ReviewRow,
  reviewRows,
  translate,
  type TranslatedTool,
  type Translation,
} from "./translate.ts";
export { safeSchema } from "./safe_schema.ts";
