/** Trees of made-up packages, as imported servers of npm run from them. */
import { digestTree, TREE_DISK } from "../../bridges/mcp/tree/mod.ts";
import { Digest, type ImportedServer } from "../../contracts/mod.ts";

const REGISTRY = "http://packages.test/";

/** Makes a tree of one made-up package `hostile@1.0.0` whose program is `source`. */
export async function makeTree(folder: string, source: string): Promise<ImportedServer["launch"]> {
  const id = "hostile-1", root = `${folder}/${id}`;
  const at = `${root}/npm/packages.test/hostile/1.0.0`;
  await Deno.mkdir(at, { recursive: true });
  const manifest = { name: "hostile", version: "1.0.0", type: "module", bin: "index.js" };
  await Deno.writeTextFile(`${at}/package.json`, JSON.stringify(manifest));
  await Deno.writeTextFile(`${at}/index.js`, source);
  await Deno.writeTextFile(
    `${root}/deno.lock`,
    JSON.stringify({
      version: "5",
      specifiers: { "npm:hostile@1.0.0": "1.0.0" },
      npm: { "hostile@1.0.0": { integrity: `sha512-${btoa("x".repeat(64))}` } },
    }),
  );
  const digest = digestTree(root, TREE_DISK);
  return {
    ...{ kind: "npm", package: "hostile", version: "1.0.0", args: [], registry: REGISTRY },
    tree: { id, ...digest, sha256: Digest.parse(digest.sha256) },
  };
}
