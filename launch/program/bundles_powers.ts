/** Builds the kernel and its children into bundles that run without sources. @module */
import { basename, dirname, join } from "node:path";
import { Fault, WASM_PAGES } from "../../contracts/base/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { displayBlock } from "../../text/mod.ts";
import { buildEnv } from "../../port/build_env.ts";
import { digestSources, type SourceDigests } from "./source_digest_powers.ts";
import { settleCaches, warm } from "./warm_powers.ts";

/** Paths of the built programs. */
export interface Bundles {
  /** Digest of all sources and of Deno's version, hex. */
  readonly digest: string;
  readonly kernel: string;
  /** The children that every kernel may start, by role. */
  readonly children: Omit<KernelConfig["bundles"], keyof typeof NOT_BUILT>;
  /** Warmed code cache of the children. */
  readonly denoDir: string;
}

/** Optional programs, while no configuration asks for them. */
export const NOT_BUILT = Object.freeze({
  browser: "",
  remote: "",
  local: "",
  native: "",
  wiki: "",
  store: "",
  ...{ mcp: "", mcpTree: "", mcpRelay: "", a2a: "" },
  ...{ agentClient: "", agentRelay: "" },
});

const ENTRIES = {
  kernel: "kernel/main.ts",
  worker: "runner/main.ts",
  toolhost: "workspace/host/main.ts",
  model: "models/main.ts",
  plugin: "tools-wasm/host/main.ts",
  net: "net/main.ts",
  copy: "workspace/copy/main.ts",
} as const;
/** The programs that are warmed; not the kernel, which would take its lock. */
const CHILDREN = ["worker", "toolhost", "model", "plugin", "net", "copy"] as const;

async function runDeno(args: readonly string[], env: Record<string, string>): Promise<void> {
  const child = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    clearEnv: true,
    env: { ...buildEnv(Deno.env.toObject()), ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!child.success) {
    const output = displayBlock(new TextDecoder().decode(child.stderr), {
      prefix: "  │ ",
      maxLines: 12,
    }).join("\n");
    throw new Fault(
      "unavailable",
      `Cannot build Remit: "deno ${args[0] ?? ""}" failed (the first build needs the package ` +
        `registry, later ones do not)\n${output}${
          /UnknownIssuer|self-signed/i.test(output)
            ? "\nwhere your network signs with a certificate of its own, name it: DENO_CERT=FILE.pem"
            : ""
        }`,
    );
  }
}

async function build(home: string, folder: string): Promise<void> {
  const queue = Object.entries(ENTRIES);
  const bundleNext = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [role, entry] = next;
      await runDeno([
        "bundle",
        "--quiet",
        "--no-check",
        "--config",
        join(home, "deno.json"),
        // Only the kernel and net use packages' Node.js forms: the other children have no Node.js layer.
        "--platform",
        role === "kernel" || role === "net" ? "deno" : "browser",
        // Without --keep-names, which names each closure again on creation: 6 % of the kernel's time.
        "--minify",
        "-o",
        join(folder, `${role}.js`),
        join(home, entry),
      ], {});
    }
  };
  // The first bundle runs alone: on a fresh machine it installs the bundler.
  const first = queue.splice(0, 1);
  const rest = queue.splice(0);
  queue.push(...first);
  await bundleNext();
  queue.push(...rest);
  await Promise.all([bundleNext(), bundleNext()]);
  // A file in place of Deno's storage folder: localStorage and caches fail in every child.
  Deno.writeTextFileSync(
    join(folder, "deno", "location_data"),
    "Remit: no child keeps anything here.\n",
  );
}

/** Warms the programs at their final paths: Deno keys compiled code by path. */
async function warmAll(folder: string): Promise<void> {
  const denoDir = join(folder, "deno");
  const queue = [...CHILDREN];
  const warmNext = async (): Promise<void> => {
    for (let role = queue.shift(); role !== undefined; role = queue.shift()) {
      // The copy service loads no WASM, and its start line names no pages.
      const pages = role === "copy" ? undefined : WASM_PAGES[role];
      await warm({ bundle: join(folder, `${role}.js`), pages }, denoDir);
    }
  };
  await Promise.all([warmNext(), warmNext()]);
  settleCaches(denoDir);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * Finds the bundles of these sources, or builds them: whole or not at all, also when two processes build at once.

 *
 * @throws Fault `unavailable` when a program does not build.
 */
export async function provideBundles(
  parts: {
    readonly home: string;
    readonly cache: string;
    readonly onBuild: () => void;
    readonly known?: SourceDigests;
  },
): Promise<Bundles> {
  const digest = digestSources(parts.home, undefined, parts.known);
  const folder = join(parts.cache, digest.slice(0, 32));
  if (!exists(folder)) {
    parts.onBuild();
    Deno.mkdirSync(parts.cache, { recursive: true, mode: 0o700 });
    const draft = Deno.makeTempDirSync({ dir: parts.cache, prefix: ".building-" });
    try {
      Deno.mkdirSync(join(draft, "deno"), { mode: 0o700 });
      await build(parts.home, draft);
      Deno.renameSync(draft, folder);
      await warmAll(folder);
    } catch (error) {
      if (exists(draft)) Deno.removeSync(draft, { recursive: true });
      // Another process was faster, with the same sources.
      if (!exists(folder)) throw error;
    }
  }
  return Object.freeze({
    digest,
    kernel: join(folder, "kernel.js"),
    children: {
      worker: join(folder, "worker.js"),
      toolhost: join(folder, "toolhost.js"),
      model: join(folder, "model.js"),
      plugin: join(folder, "plugin.js"),
      net: join(folder, "net.js"),
      copy: join(folder, "copy.js"),
    },
    denoDir: join(folder, "deno"),
  });
}

/** A program built apart from the others. */
export interface ProgramBuild {
  readonly home: string;
  readonly cache: string;
  /** Path of the built program: in a folder of its own beneath `cache`. */
  readonly file: string;
  /** Repository path of its source. */
  readonly entry: string;
  readonly platform: "deno" | "browser";
  readonly onBuild: () => void;
}

/**
 * Builds an optional program where it is missing: whole or not at all, also when two processes build at once.

 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function buildProgram(parts: ProgramBuild): Promise<void> {
  const { file, platform } = parts;
  if (exists(file)) return;
  parts.onBuild();
  Deno.mkdirSync(parts.cache, { recursive: true, mode: 0o700 });
  const draft = Deno.makeTempDirSync({ dir: parts.cache, prefix: ".building-" });
  try {
    await runDeno([
      ...["bundle", "--quiet", "--no-check", "--config", join(parts.home, "deno.json")],
      // Without --keep-names: with it Deno does not link Node modules that packages require.
      ...["--platform", platform, "--minify", "-o", join(draft, basename(file))],
      join(parts.home, parts.entry),
    ], {});
    Deno.renameSync(draft, dirname(file));
  } catch (error) {
    if (exists(draft)) Deno.removeSync(draft, { recursive: true });
    if (!exists(file)) throw error;
  }
}
