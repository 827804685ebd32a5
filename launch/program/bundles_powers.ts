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

/** Bundles one program. Packages take their Node.js forms for the platform "deno" only. */
async function bundle(
  { home, entry, platform, file }: {
    readonly home: string;
    readonly entry: string;
    readonly platform: "deno" | "browser";
    readonly file: string;
  },
): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--no-check", "--config", join(home, "deno.json")],
      // Without --keep-names: it names each closure again on creation, 6 % of the kernel's time, and Deno then does not
      // link Node modules that packages require.
      ...["--platform", platform, "--minify", "-o", file, join(home, entry)],
    ],
    clearEnv: true,
    env: buildEnv(Deno.env.toObject()),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  const output = displayBlock(new TextDecoder().decode(stderr), {
    prefix: "  │ ",
    maxLines: 12,
  }).join("\n");
  throw new Fault(
    "unavailable",
    'Cannot build Remit: "deno bundle" failed (the first build needs the package ' +
      `registry, later ones do not)\n${output}${
        /UnknownIssuer|self-signed/i.test(output)
          ? "\nwhere your network signs with a certificate of its own, name it: DENO_CERT=FILE.pem"
          : ""
      }`,
  );
}

async function build(home: string, folder: string): Promise<void> {
  const [first, ...queue] = Object.entries(ENTRIES);
  const bundleRole = async ([role, entry]: readonly [string, string]): Promise<void> =>
    await bundle({
      ...{ home, entry, file: join(folder, `${role}.js`) },
      // All children but net run without a Node.js layer.
      platform: role === "kernel" || role === "net" ? "deno" : "browser",
    });
  const bundleRest = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await bundleRole(next);
  };
  // The first bundle runs alone: on a fresh machine it installs the bundler.
  if (first !== undefined) await bundleRole(first);
  await Promise.all([bundleRest(), bundleRest()]);
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
 * Makes a folder by `make`, which fills a draft beside it, where `file` is missing: whole or not at all, also when two
 * processes make the folder at once. Returns whether this process made it.
 */
export async function provideFolder(
  folder: string,
  make: (draft: string) => Promise<void>,
  file = folder,
): Promise<boolean> {
  if (exists(file)) return false;
  const parent = dirname(folder);
  Deno.mkdirSync(parent, { recursive: true, mode: 0o700 });
  const draft = Deno.makeTempDirSync({ dir: parent, prefix: ".building-" });
  try {
    await make(draft);
    Deno.renameSync(draft, folder);
    return true;
  } catch (error) {
    if (exists(draft)) Deno.removeSync(draft, { recursive: true });
    // Another process was faster, with the same sources.
    if (!exists(file)) throw error;
    return false;
  }
}

/**
 * Finds the bundles of these sources, or builds them.
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
  const isNew = await provideFolder(folder, async (draft) => {
    parts.onBuild();
    Deno.mkdirSync(join(draft, "deno"), { mode: 0o700 });
    await build(parts.home, draft);
  });
  if (isNew) {
    try {
      await warmAll(folder);
    } catch (error) {
      // The bundles are there: without warm caches a start takes longer, and nothing else.
      if (error instanceof TypeError) throw error;
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

/**
 * Builds an optional program where it is missing. `entry`: repository path of its source; `file`: path of the built
 * program, in a folder of its own in the cache.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function buildProgram(
  { file, onBuild, ...source }: Parameters<typeof bundle>[0] & { readonly onBuild: () => void },
): Promise<void> {
  await provideFolder(dirname(file), async (draft) => {
    onBuild();
    await bundle({ ...source, file: join(draft, basename(file)) });
  }, file);
}
