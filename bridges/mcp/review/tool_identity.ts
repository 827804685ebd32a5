/** Names and digests of imported tools, and their changes. @module */
import { ToolName } from "../../../contracts/authority/ids.ts";
import { mcpPart } from "../../../contracts/exchange/mcp.ts";
import type { Digest } from "../../../contracts/authority/mod.ts";
import type { McpServerName, McpToolWords } from "../../../contracts/exchange/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";

const MAX_NAME_CHARS = 64;
const DIGEST_CHARS = 6;

/**
 * The name for models: `mcp_SERVER_TOOL` or `a2a_PEER_SKILL`. A name that is shortened or loses
 * letters ends in the first characters of its digest, so that it stays unique.
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
  if (!lossy && name.length <= MAX_NAME_CHARS) return ToolName.parse(name);
  const kept = name.slice(0, MAX_NAME_CHARS - DIGEST_CHARS - 1).replace(/_+$/, "");
  return ToolName.parse(`${kept}_${sha256Hex(tool.toWellFormed()).slice(0, DIGEST_CHARS)}`);
}

/**
 * A name as a hasty reader sees it: confusable letters are equal and separators vanish. Names with
 * the same outline are look-alikes.
 */
export function outline(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "").replaceAll("rn", "m").replaceAll("vv", "w")
    .replace(/[0]/g, "o").replace(/[1i|]/g, "l");
}

/**
 * SHA-256 of a tool's name, title, description, schemas and annotations, as reviewed; the order of
 * keys does not count.
 */
export function toolDigest(words: McpToolWords): Digest {
  const { name, title, description, inputSchema, outputSchema, annotations } = words;
  return sha256Hex(oneText({ name, title, description, inputSchema, outputSchema, annotations }));
}

/**
 * JSON with sorted keys. Not canonicalJson, which rejects a lone surrogate: a server may write one,
 * and the digest must only tell texts apart.
 */
function oneText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(oneText).join(",")}]`;
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  members.sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${oneText(item)}`).join(",")}}`;
}

/** Changes since the review, by the server's names: untrusted. */
interface ToolChanges {
  /** Reviewed, and different now, or listed twice. */
  readonly changed: readonly string[];
  /** Reviewed, and no longer listed. */
  readonly missing: readonly string[];
  /** Never reviewed. */
  readonly added: readonly string[];
}

/** Compares a server's listing with the pinned digests, so that a swapped tool is found. */
export function changesOf(
  pinned: readonly { readonly tool: string; readonly digest: Digest }[],
  words: readonly McpToolWords[],
): ToolChanges {
  const now = Map.groupBy(words, ({ name }) => name);
  const known = new Set(pinned.map(({ tool }) => tool));
  const changed: string[] = [], missing: string[] = [];
  for (const { tool, digest } of pinned) {
    const listed = now.get(tool);
    if (listed === undefined) missing.push(tool);
    // A second tool under the same name would be called in place of the reviewed one.
    else if (listed.length > 1 || listed.some((each) => toolDigest(each) !== digest)) {
      changed.push(tool);
    }
  }
  return { changed, missing, added: [...now.keys()].filter((name) => !known.has(name)) };
}
