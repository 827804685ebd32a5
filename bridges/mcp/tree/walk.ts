/** Everything that lies in a tree, in one order on every machine. @module */
import { Fault } from "../../../contracts/mod.ts";
import type { TreeDisk, TreeStat } from "./disk.ts";

/** Most files of a tree: see `McpTree`. */
const TREE_FILES = 200_000;
/** Deepest folder. */
const DEPTH = 64;

/** A file or link of a tree. */
export interface TreeEntry {
  /** Relative to the tree, with `/`. */
  readonly path: string;
  readonly stat: TreeStat;
}

/**
 * Files and links, folders first by name.
 *
 * @throws Fault `refused` for what is neither file, folder nor link, for a name with control characters, for one that
 * is too deep; `tooLarge` for too many files
 */
export function walkTree(root: string, disk: Pick<TreeDisk, "list" | "stat">): TreeEntry[] {
  const found: TreeEntry[] = [];
  const into = (folder: string, prefix: string, depth: number): void => {
    if (depth > DEPTH) throw refused(prefix, "it lies too deep");
    for (const name of [...disk.list(folder)].sort()) {
      const path = prefix + name;
      // deno-lint-ignore no-control-regex -- a line break would forge a line of what is hashed
      if (/[\0-\x1f\x7f]/.test(name)) throw refused(path, "its name holds a control character");
      const stat = disk.stat(`${folder}/${name}`);
      if (stat.kind === "folder") {
        into(`${folder}/${name}`, `${path}/`, depth + 1);
        continue;
      }
      if (stat.kind === "other") throw refused(path, "it is neither a file, a folder nor a link");
      if (found.push({ path, stat }) > TREE_FILES) {
        throw new Fault("tooLarge", `Cannot read this tree: more than ${TREE_FILES} files`);
      }
    }
  };
  into(root, "", 0);
  return found;
}

function refused(path: string, why: string): Fault {
  return new Fault("refused", `Cannot read ${JSON.stringify(path)} of a tree: ${why}`);
}
