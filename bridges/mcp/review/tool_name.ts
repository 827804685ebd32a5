/** Names of imported tools, in the characters that every provider takes. @module */
import { ToolName } from "../../../contracts/ids.ts";
import { mcpPart } from "../../../contracts/mcp.ts";
import type { McpServerName } from "../../../contracts/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";

const LONGEST = 64;
const DIGITS = 6;

/**
 * `mcp_SERVER_TOOL`, or `a2a_PEER_SKILL`. A name that is too long, or in letters that are left out, ends in the first
 * characters of its digest, so that it stays one of its kind.
 */
export function toolName(
  server: McpServerName,
  tool: string,
  kind: "mcp" | "a2a" = "mcp",
): ToolName {
  const plain = tool.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  const name = `${kind}_${mcpPart(server)}_${plain === "" ? "tool" : plain}`;
  // deno-lint-ignore no-control-regex -- all of ASCII is meant
  const lossy = plain === "" || !/^[\x00-\x7f]*$/.test(tool);
  if (!lossy && name.length <= LONGEST) return ToolName.parse(name);
  const kept = name.slice(0, LONGEST - DIGITS - 1).replace(/_+$/, "");
  return ToolName.parse(`${kept}_${sha256Hex(tool.toWellFormed()).slice(0, DIGITS)}`);
}

/**
 * A name as a quick reader sees it: what passes for another letter is that letter, and nothing separates.
 * Two names with one outline are look-alikes.
 */
export function outline(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "").replaceAll("rn", "m").replaceAll("vv", "w")
    .replace(/[0]/g, "o").replace(/[1i|]/g, "l");
}
