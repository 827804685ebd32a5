/** Trees on the disk: counted, made read-only, named by what they hold, removed. @module */
import { join } from "node:path";
import { Fault, McpTree } from "../../../contracts/mod.ts";
import { TREE_BYTES, TREE_FILES, type TreeName } from "./hands.ts";

/** Of bridges/mcp/tree: what a tree's files are, taken together. Throws Fault `refused`. */
export type TreeDigester = (folder: string) => Omit<McpTree, "id" | "sha256"> & {
  readonly sha256: string;
};

/** Files beneath a folder, relative. Throws Fault `tooLarge`. */
export function treeFiles(folder: string): { path: string; bytes: number }[] {
  const found: { path: string; bytes: number }[] = [];
  let bytes = 0;
  const walk = (at: string): void => {
    for (const entry of Deno.readDirSync(join(folder, at))) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory) walk(path);
      else {
        const { size } = Deno.lstatSync(join(folder, path));
        bytes += size;
        found.push({ path, bytes: size });
      }
      if (found.length > TREE_FILES || bytes > TREE_BYTES) {
        throw new Fault(
          "tooLarge",
          `Cannot fetch: it has more than ${TREE_BYTES / 1_000_000} MB or ${TREE_FILES} files`,
        );
      }
    }
  };
  walk("");
  return found;
}

/**
 * Changes what may be done with everything beneath a folder: read and entered by all, since a server may run as nobody;
 * the folders above it let only their owner through.
 */
function permit(folder: string, writable: boolean): void {
  const bit = writable ? 0o200 : 0;
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) {
      Deno.chmodSync(path, 0o700);
      permit(path, writable);
      Deno.chmodSync(path, 0o555 | bit);
    } else if (entry.isFile) {
      const executable = ((Deno.statSync(path).mode ?? 0) & 0o100) !== 0;
      Deno.chmodSync(path, (executable ? 0o555 : 0o444) | bit);
    }
  }
}

/** See `McpStoreHands.keep`. */
export function keepTree(
  draft: string,
  { trees, prefix }: TreeName,
  digestTree: TreeDigester,
): McpTree {
  treeFiles(draft);
  permit(draft, false);
  const found = digestTree(draft);
  const id = `${prefix}-${found.sha256.slice(0, 32)}`;
  try {
    Deno.renameSync(draft, join(trees, id));
    // Last: a folder that may not be written cannot be moved.
    Deno.chmodSync(join(trees, id), 0o555);
  } catch (error) {
    // The same tree is there already: a folder with something in it is never replaced.
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    dropTree(draft);
  }
  return McpTree.parse({ id, ...found });
}

/** Removes a tree or a draft; nothing when there is none. */
export function dropTree(folder: string): void {
  try {
    Deno.chmodSync(folder, 0o700);
    permit(folder, true);
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
