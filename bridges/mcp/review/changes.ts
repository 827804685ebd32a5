/** What differs between the tools that were reviewed and those that a server speaks of now. @module */
import type { Digest, McpToolWords } from "../../../contracts/mod.ts";
import { toolDigest } from "./tool_digest.ts";

/** Names on the wire: untrusted. */
export interface ToolChanges {
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
