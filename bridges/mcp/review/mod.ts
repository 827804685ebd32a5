/**
 * The review of imported MCP servers: what a server says of its tools is bounded, translated, looked at
 * for deceptions, and pinned. Pure: no file of this folder touches anything. Issue 6.
 *
 * @example
 * ```ts
 * import { McpServerName, NO_GRANTS } from "../../../contracts/mod.ts";
 * import { translate } from "./mod.ts";
 * const words = { name: "get-sum", description: "Adds.", inputSchema: { type: "object" } };
 * const launch = { kind: "http", url: "https://example.com/mcp" } as const;
 * const { tools } = translate(McpServerName.parse("sums"), [words], { grants: NO_GRANTS, launch });
 * if (tools[0]?.name !== "mcp_sums_get_sum") throw new Error("it has another name");
 * ```
 * @module
 */
export { changesOf, type ToolChanges } from "./changes.ts";
export { type CleanText, cleanText } from "./clean_text.ts";
export { type DiffLine, diffWords } from "./diff_words.ts";
export { type EffectAt, effectOf, type ToolEffect } from "./effect.ts";
export { FLAG_WORDS, type FlagKind, type ToolFlag } from "./flag.ts";
export { type FlagAt, flagsOf, type OtherServer, serverFlags } from "./flags.ts";
export { type ReviewRow, reviewRows } from "./review_rows.ts";
export { type SafeSchema, safeSchema } from "./safe_schema.ts";
export { toolDigest } from "./tool_digest.ts";
export { outline, toolName } from "./tool_name.ts";
export {
  importedTool,
  type RefusedTool,
  type ReviewWith,
  translate,
  type TranslatedTool,
  type Translation,
} from "./translate.ts";
