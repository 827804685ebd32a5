/** The digest of a server's tree: `McpTree.sha256`. @module */
import { createHash } from "node:crypto";
import { Fault } from "../../../contracts/mod.ts";
import type { TreeDisk } from "./disk.ts";
import { type TreeEntry, walkTree } from "./walk.ts";

/** What a tree comes to. */
export interface TreeDigest {
  /** SHA-256 over the sorted lines `MODE SHA256 PATH\n`: six octal digits, a link's of its text. */
  readonly sha256: string;
  /** Files and links. */
  readonly files: number;
  readonly bytes: number;
}

/**
 * Reads all of a tree.
 *
 * @throws Fault `refused`, `tooLarge` as {@link walkTree}; `refused` for a link that leads out of the tree
 */
export function digestTree(root: string, disk: TreeDisk): TreeDigest {
  return digestEntries(root, walkTree(root, disk), disk);
}

/** As {@link digestTree}, of what was walked already. */
export function digestEntries(
  root: string,
  entries: readonly TreeEntry[],
  disk: Pick<TreeDisk, "hash" | "link">,
): TreeDigest {
  let bytes = 0;
  const lines = entries.map(({ path, stat }) => {
    const mode = stat.mode.toString(8).padStart(6, "0");
    if (stat.kind === "link") {
      const text = disk.link(`${root}/${path}`);
      if (leadsOut(path, text)) {
        throw new Fault(
          "refused",
          `Cannot read ${JSON.stringify(path)} of a tree: it is a link that leads out of it`,
        );
      }
      return `${mode} ${createHash("sha256").update(text).digest("hex")} ${path}\n`;
    }
    const { sha256, bytes: length } = disk.hash(`${root}/${path}`);
    bytes += length;
    return `${mode} ${sha256} ${path}\n`;
  });
  const hash = createHash("sha256");
  for (const line of lines.sort()) hash.update(line);
  return { sha256: hash.digest("hex"), files: entries.length, bytes };
}

function leadsOut(path: string, text: string): boolean {
  if (text.startsWith("/")) return true;
  let depth = path.split("/").length - 1;
  for (const part of text.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
