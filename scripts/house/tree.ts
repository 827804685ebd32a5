import { isUtf8 } from "node:buffer";

/** Folders that are generated, fetched or hold no sources. */
const LEFT_OUT: ReadonlySet<string> = new Set([".git", ".build", "node_modules"]);
/** `.git` is a file in a worktree. */
const LEFT_OUT_FILES: ReadonlySet<string> = new Set(["deno.lock", "LICENSE", ".git"]);

/** A text file of the repository. */
export type TextFile = { readonly path: string; readonly text: string };

/** Text files under `root` (absolute), sorted by path, without generated or fetched ones. */
export function readTree(root: string): readonly TextFile[] {
  const files: TextFile[] = [];
  const visit = (folder: string): void => {
    for (const entry of Deno.readDirSync(`${root}/${folder}`)) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory && !LEFT_OUT.has(entry.name)) visit(path);
      if (!entry.isFile || LEFT_OUT_FILES.has(path) || /\.db(-wal|-shm)?$/.test(path)) continue;
      const bytes = Deno.readFileSync(`${root}/${path}`);
      if (isUtf8(bytes)) files.push({ path, text: new TextDecoder().decode(bytes) });
    }
  };
  visit("");
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
