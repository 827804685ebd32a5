/** Runs Deno's bundler over a plugin's sources. @module */
import { isAbsolute, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Fault } from "../../../contracts/base/fault.ts";
import { buildEnv } from "../../../port/build_env.ts";

const HOME = fileURLToPath(new URL("../../../", import.meta.url));
const CONFIG = join(HOME, "deno.json");

/** Maximum lines shown of Deno's error about a module that does not parse: message, line, place. */
const SAID = 6;

/** Remit's folders that every tool may import from. */
const OPEN = ["contracts", "port", "text", "tools-wasm/sdk"].map((name) => join(HOME, name));

/**
 * Bundles `tool.ts` in `folder` (absolute) and its imports into one classic script, which sets
 * `globalThis.__tools` to its export `tools`. Equal sources give equal text.
 *
 * @throws Fault `invalidInput` where it does not bundle, or imports a file outside its folder, a
 * package that deno.json does not name, or anything from the network
 */
export async function bundleScript(folder: string): Promise<string> {
  const real = await Deno.realPath(folder);
  const tool = join(real, "tool.ts");
  const draft = await Deno.makeTempDir({ prefix: "remit-script-" });
  try {
    await checkImports(tool, { folder: real, denoDir: join(draft, "deno") });
    const entry = join(draft, "entry.ts");
    await Deno.writeTextFile(
      entry,
      `import { tools } from ${JSON.stringify(pathToFileURL(tool).href)};\n` +
        "Object.defineProperty(globalThis, '__tools', { value: tools, configurable: true });\n",
    );
    const args = [
      "--no-check",
      "--platform",
      "browser",
      "--format",
      "iife",
      "--minify",
      "--keep-names",
    ];
    // The imports are checked by now: nothing else may be resolved, fetched or added to Remit's
    // lock.
    const env = beneath(join(HOME, "tools-wasm"), real) ? {} : NO_NETWORK;
    return await runDeno("bundle", ["--frozen", ...args, entry], { tool, env });
  } finally {
    await Deno.remove(draft, { recursive: true });
  }
}

/**
 * Checks a tool's imports before they are resolved: asks for no package, reads or writes no lock,
 * and uses a temporary cache for Deno's notes about the sources.
 */
async function checkImports(
  tool: string,
  { folder, denoDir }: { readonly folder: string; readonly denoDir: string },
): Promise<void> {
  const env = { ...NO_NETWORK, DENO_DIR: denoDir };
  const graphText = await runDeno("info", ["--json", "--no-npm", "--no-lock", tool], { tool, env });
  const graph: unknown = JSON.parse(graphText);
  const allowed = [folder, ...OPEN];
  const packages = await packagesOf(CONFIG);
  for (const found of modulesOf(graph)) {
    const name = /^npm:\/?((?:@[^/]+\/)?[^/]+)/.exec(found.specifier)?.[1];
    if (name !== undefined && packages.has(name)) continue;
    if (found.error !== undefined && found.specifier.startsWith("file:")) {
      throw refuse(tool, found.error.split("\n").slice(0, SAID).join("\n"));
    }
    const path = found.local === undefined ? undefined : await Deno.realPath(found.local);
    const inside = path !== undefined && found.specifier.startsWith("file:") &&
      allowed.some((root) => beneath(root, path));
    if (!inside) throw refuse(tool, `it imports "${found.specifier}", which is not its own`);
    for (const { specifier, code, type } of found.dependencies ?? []) {
      // A name that leads nowhere has no module of its own; only the importing module lists it.
      if (code?.error === undefined && type?.error === undefined) continue;
      throw refuse(tool, `it imports "${specifier}", which is not its own`);
    }
  }
}

/** `name@version` of every package that the configuration names. */
async function packagesOf(config: string): Promise<ReadonlySet<string>> {
  const parsed: unknown = JSON.parse(await Deno.readTextFile(config));
  const imports = typeof parsed === "object" && parsed !== null && "imports" in parsed
    ? parsed.imports
    : {};
  const named = Object.values(imports ?? {}).filter((value) => typeof value === "string");
  return new Set(named.map((value) => value.replace(/^npm:/, "")));
}

interface GraphModule {
  readonly specifier: string;
  readonly kind?: string;
  readonly local?: string;
  readonly error?: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    readonly code?: { readonly error?: string };
    readonly type?: { readonly error?: string };
  }[];
}

function modulesOf(graph: unknown): readonly GraphModule[] {
  const modules = typeof graph === "object" && graph !== null && "modules" in graph
    ? graph.modules
    : [];
  return Array.isArray(modules) ? modules as readonly GraphModule[] : [];
}

function beneath(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== "" && !way.startsWith("..") && !isAbsolute(way);
}

/** A proxy address where nothing listens: a stranger's folder must not contact any host. */
const NO_NETWORK: Readonly<Record<string, string>> = Object.freeze({
  ...{ HTTP_PROXY: "http://127.0.0.1:1", HTTPS_PROXY: "http://127.0.0.1:1", NO_PROXY: "" },
  ...{ http_proxy: "http://127.0.0.1:1", https_proxy: "http://127.0.0.1:1", no_proxy: "" },
});

async function runDeno(
  command: "bundle" | "info",
  args: readonly string[],
  { tool, env }: { readonly tool: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [command, "--quiet", "--config", CONFIG, "--no-remote", ...args],
    clearEnv: true,
    env: { ...buildEnv(Deno.env.toObject()), ...env },
    // A package.json or a .npmrc may lie in the tool's folder.
    cwd: HOME,
    stdin: "null",
  }).output();
  if (success) return new TextDecoder().decode(stdout);
  throw refuse(tool, new TextDecoder().decode(stderr).trim());
}

function refuse(tool: string, why: string): Fault {
  return new Fault("invalidInput", `Cannot bundle "${tool}": ${why}`);
}
