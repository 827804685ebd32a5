/** Trees of made-up packages, from which imported npm servers run. */
import { digestTree, TREE_DISK } from "../../bridges/mcp/tree/mod.ts";
import { Digest } from "../../contracts/authority/mod.ts";
import type { ImportedServer } from "../../contracts/exchange/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

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

/**
 * A server that is a program of this machine and may do everything that its walls allow: Deno, with all permissions, running
 * `source` in `folder`.
 */
export async function makeProgram(
  folder: string,
  source: string,
): Promise<Extract<ImportedServer["launch"], { readonly kind: "program" }>> {
  const program = await Deno.realPath(Deno.execPath());
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/server.js`, source);
  return {
    ...{ kind: "program", program, folders: [folder] },
    sha256: Digest.parse(sha256Hex(await Deno.readFile(program))),
    args: ["run", "--quiet", "--no-config", "--no-lock", "-A", `${folder}/server.js`],
  };
}
