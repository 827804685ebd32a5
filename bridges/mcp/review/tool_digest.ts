/** What was reviewed of a tool, as one digest: when it changes, the tool is another. @module */
import type { Digest, McpToolWords } from "../../../contracts/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";

/**
 * SHA-256 of all that a server says of a tool: name, title, description, schemas, annotations. The
 * order of keys does not count.
 */
export function toolDigest(words: McpToolWords): Digest {
  const { name, title, description, inputSchema, outputSchema, annotations } = words;
  return sha256Hex(
    oneText({ name, title, description, inputSchema, outputSchema, annotations }),
  );
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
