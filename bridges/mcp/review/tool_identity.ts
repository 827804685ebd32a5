/** Names of imported tools, in the characters that every provider takes. @module */
import { ToolName } from "../../../contracts/authority/ids.ts";
import { mcpPart } from "../../../contracts/exchange/mcp.ts";
import type { Digest } from "../../../contracts/authority/mod.ts";
import type { McpServerName, McpToolWords } from "../../../contracts/exchange/mod.ts";
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

// What was reviewed of a tool, as one digest: when it changes, the tool is another.

/**
 * SHA-256 of all that a server says of a tool: name, title, description, schemas, annotations. The
 * order of keys does not count.
 */
export function toolDigest(words: McpToolWords): Digest {
  const { name, title, description, inputSchema, outputSchema, annotations } = words;
  return sha256Hex(oneText({ name, title, description, inputSchema, outputSchema, annotations }));
}

/**
 * JSON with the keys of each object in order. Not canonicalJson: a server may write half of a surrogate
 * pair, which has no canonical text, and here it must only be told from all others.
 */
function oneText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(oneText).join(",")}]`;
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  members.sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${oneText(item)}`).join(",")}}`;
}

// What differs between the tools that were reviewed and those that a server speaks of now.

/** Names on the wire: untrusted. */
interface ToolChanges {
  /** Reviewed, and now others under the same name; also what has come twice. */
  readonly changed: readonly string[];
  /** Reviewed, and no longer there. */
  readonly missing: readonly string[];
  /** Never reviewed. */
  readonly added: readonly string[];
}

/** Holds what a server says now against the pinned digests: a rug pull is found here. */
export function changesOf(
  pinned: readonly { readonly tool: string; readonly digest: Digest }[],
  words: readonly McpToolWords[],
): ToolChanges {
  const now = Map.groupBy(words, ({ name }) => name);
  const known = new Set(pinned.map(({ tool }) => tool));
  const changed: string[] = [], missing: string[] = [];
  for (const { tool, digest } of pinned) {
    const said = now.get(tool);
    if (said === undefined) missing.push(tool);
    // Under one name there may be one tool: a second one would be called in its place.
    else if (said.length > 1 || said.some((each) => toolDigest(each) !== digest)) {
      changed.push(tool);
    }
  }
  return { changed, missing, added: [...now.keys()].filter((name) => !known.has(name)) };
}
