/** Trees of npm servers for benches: what `remit mcp add` fetches, kept between runs. @module */
import { digestTree, TREE_DISK } from "../../bridges/mcp/tree/mod.ts";
import { Digest } from "../../contracts/authority/mod.ts";
import type { McpLaunch } from "../../contracts/exchange/mod.ts";
import { makeDisk } from "../../launch/disk/disk_powers.ts";
import { provideWarm } from "../../bridges/mcp/registry/store/sweep.ts";
import { cacheFolder } from "../_kernel.ts";

/** A server of npm: how a task is handed it, and how anybody else starts it. */
export interface BenchServer {
  readonly launch: Extract<McpLaunch, { readonly kind: "npm" }>;
  /** Program and arguments of its bare start, without the server's own arguments. */
  readonly bare: readonly string[];
}

const HOME = new URL("../..", import.meta.url).pathname;
const DENO = await Deno.realPath(Deno.execPath());
const BARE = ["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--cached-only", "-A"];
const OWN_REGISTRY = "http://packages.test/";

/** Where trees of benches lie, and beside them what Deno compiled of them. */
export function benchTrees(): string {
  return `${cacheFolder()}/bench-mcp/trees`;
}

/** A server that others wrote, at an exact version. The first time it is fetched. */
export async function npmServer(name: string, bin: string): Promise<BenchServer> {
  const version = "2026.8.31", specifier = `npm:${name}@${version}`;
  const id = `${bin}-${version}`.replaceAll(".", "-"), root = `${benchTrees()}/${id}`;
  await deno(["cache", "--quiet", "--no-config", "--no-lock", specifier], {});
  if (!exists(root)) {
    const draft = await newDraft();
    const args = ["--quiet", "--no-config", "--node-modules-dir=none", `--lock=${draft}/deno.lock`];
    await deno(["cache", ...args, specifier], { DENO_DIR: draft });
    await prune(draft);
    await Deno.rename(draft, root);
  }
  return {
    launch: launchOf(id, { package: name, version, bin }),
    bare: [DENO, ...BARE, specifier],
  };
}

/** A server of ours as a package of one file. */
export async function ownServer(name: string, source: string): Promise<BenchServer> {
  const hash = new Uint8Array(
    await crypto.subtle.digest("SHA-256", new TextEncoder().encode(source)),
  );
  const id = `${name}-${hash.toHex().slice(0, 16)}`, root = `${benchTrees()}/${id}`;
  const inner = `npm/packages.test/${name}/1.0.0`;
  if (!exists(root)) {
    const draft = await newDraft();
    await Deno.mkdir(`${draft}/${inner}`, { recursive: true });
    const manifest = { name, version: "1.0.0", type: "module", bin: "index.js" };
    await Deno.writeTextFile(`${draft}/${inner}/package.json`, JSON.stringify(manifest));
    await Deno.writeTextFile(`${draft}/${inner}/index.js`, source);
    const lock = {
      version: "5",
      specifiers: { [`npm:${name}@1.0.0`]: "1.0.0" },
      npm: { [`${name}@1.0.0`]: { integrity: `sha512-${btoa("x".repeat(64))}` } },
    };
    await Deno.writeTextFile(`${draft}/deno.lock`, JSON.stringify(lock));
    await Deno.rename(draft, root);
  }
  return {
    launch: { ...launchOf(id, { package: name, version: "1.0.0" }), registry: OWN_REGISTRY },
    bare: [DENO, ...BARE, `${root}/${inner}/index.js`],
  };
}

/** One file of a program and all that it imports. */
export async function bundled(entry: string): Promise<string> {
  const file = await Deno.makeTempFile({ prefix: "remit-bench-", suffix: ".js" });
  try {
    const flags = ["--quiet", "--no-check", "--platform", "deno", "--config", `${HOME}deno.json`];
    await deno(["bundle", ...flags, "-o", file, `${HOME}${entry}`], {});
    return await Deno.readTextFile(file);
  } finally {
    await Deno.remove(file);
  }
}

function launchOf(
  id: string,
  named: { readonly package: string; readonly version: string; readonly bin?: string },
): BenchServer["launch"] {
  const { sha256, files, bytes } = digestTree(`${benchTrees()}/${id}`, TREE_DISK);
  const tree = { id, files, bytes, sha256: Digest.parse(sha256) };
  provideWarm(makeDisk(), { mcpTrees: benchTrees() }, tree);
  return { kind: "npm", ...named, args: [], tree };
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function newDraft(): Promise<string> {
  await Deno.mkdir(benchTrees(), { recursive: true, mode: 0o700 });
  return await Deno.makeTempDir({ dir: benchTrees(), prefix: ".new-" });
}

/** The lock and the files of packages, and nothing else: as `remit mcp add` leaves a tree. */
async function prune(root: string): Promise<void> {
  for await (const { name } of Deno.readDir(root)) {
    if (name !== "npm" && name !== "deno.lock") {
      await Deno.remove(`${root}/${name}`, { recursive: true });
    }
  }
  const drop = async (folder: string, depth: number): Promise<void> => {
    for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
      if (isFile && name === "registry.json") await Deno.remove(`${folder}/${name}`);
      if (isDirectory && depth < 3) await drop(`${folder}/${name}`, depth + 1);
    }
  };
  await drop(`${root}/npm`, 0);
}

async function deno(args: readonly string[], env: Record<string, string>): Promise<void> {
  const { success, stderr } = await new Deno.Command(DENO, {
    args: [...args],
    env: { ...env, NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`Cannot run deno ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}
