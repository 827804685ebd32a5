/** Bundled children and a configuration around them, for benches of the kernel. @module */
import { cacheBeside, WASM_PAGES } from "../contracts/base/mod.ts";
import type { Powers } from "../contracts/task/mod.ts";
import type { KernelConfig } from "../contracts/wire/mod.ts";
import { realPowers } from "../kernel/_fixture/small_children.ts";
import { type Children, makeChildren } from "../kernel/core/child/children.ts";
import { settleCaches, warm } from "../launch/program/warm_powers.ts";
import { makeSpawnPowers } from "../kernel/core/start/spawn_powers.ts";

const ENTRIES = {
  worker: "runner/main.ts",
  toolhost: "workspace/host/main.ts",
  model: "models/main.ts",
  remote: "models/remote/main.ts",
  local: "models/local/main.ts",
  native: "models/native/main.ts",
} as const;
/** Built as the command line builds them (launch/program/bundles_powers.ts, launch/program/model_programs_powers.ts). */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  model: ["--platform", "browser"],
  remote: ["--platform", "deno"],
  local: ["--platform", "browser"],
  native: ["--platform", "deno"],
};

/** Programs with a folder and a code cache of their own, as the command line builds them. */
const APART: ReadonlySet<string> = new Set(["remote", "local", "native"]);

/** A folder with bundles and a warmed code cache, removed when it is disposed of. */
export interface BenchWorld extends AsyncDisposable {
  readonly dir: string;
  readonly deno: string;
  readonly powers: Powers;
  readonly bundles: KernelConfig["bundles"];
  children(changes?: Partial<KernelConfig>): Promise<Children>;
  /** How many children have said their first words: as many are ready, in a pool or not. */
  ready(): number;
}

/** Builds the bundles of these roles; seconds. */
export async function makeBenchWorld(
  roles: readonly (keyof typeof ENTRIES)[],
): Promise<BenchWorld> {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-bench-" }));
  const home = new URL("..", import.meta.url).pathname;
  const deno = await Deno.realPath(Deno.execPath());
  for (const folder of ["deno", "run", "kernel", "content", "scratch", "desk"]) {
    await Deno.mkdir(`${dir}/${folder}`);
  }
  await Deno.writeTextFile(`${dir}/empty.js`, "");
  const fileOf = (role: keyof typeof ENTRIES): string =>
    APART.has(role) ? `${dir}/${role}/${role}.js` : `${dir}/${role}.js`;
  for (const role of roles) {
    const out = fileOf(role);
    await Deno.mkdir(cacheBeside(out), { recursive: true });
    const shape = BESIDE[role] ?? ["--platform", "deno"];
    const flags = ["--quiet", "--no-check", "--minify", ...shape];
    const built = await new Deno.Command(deno, {
      args: [
        "bundle",
        ...flags,
        "--config",
        `${home}deno.json`,
        "-o",
        out,
        `${home}${ENTRIES[role]}`,
      ],
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!built.success) {
      throw new Error(`Cannot bundle ${role}: ${new TextDecoder().decode(built.stderr)}`);
    }
  }
  for (const role of roles) {
    const bundle = fileOf(role);
    await warm({ bundle, pages: WASM_PAGES[role] }, cacheBeside(bundle));
    settleCaches(cacheBeside(bundle));
  }
  const bundles: KernelConfig["bundles"] = {
    worker: fileOf("worker"),
    toolhost: fileOf("toolhost"),
    model: fileOf("model"),
    plugin: `${dir}/plugin.js`,
    net: `${dir}/net.js`,
    copy: `${dir}/copy.js`,
    browser: "",
    remote: fileOf("remote"),
    local: fileOf("local"),
    native: fileOf("native"),
    wiki: "",
    ...{ mcp: "", mcpTree: "", mcpRelay: "", a2a: "", store: "" },
    ...{ agentClient: "", agentRelay: "" },
  };
  const powers = realPowers();
  const made: Children[] = [];
  const spawn = makeSpawnPowers();
  let ready = 0;
  const start: typeof spawn.start = (options) => {
    let quiet = true;
    return spawn.start({
      ...options,
      onOutput(chunk): void {
        if (quiet) ready++;
        quiet = false;
        options.onOutput(chunk);
      },
    });
  };
  return {
    dir,
    deno,
    powers,
    bundles,
    ready: () => ready,
    async children(changes = {}): Promise<Children> {
      const children = await makeChildren({
        config: {
          programs: { deno, ...programs() },
          bundles,
          dir: `${dir}/kernel`,
          runtime: `${dir}/run`,
          mcpTrees: "",
          denoDir: `${dir}/deno`,
          brokerSockets: [`${dir}/run/b0`, `${dir}/run/b1`],
          pool: { workers: 0, plugins: 0 },
          browser: { engine: "static", program: "/usr/bin/chromium" },
          ...changes,
        },
        powers,
        spawn: { ...spawn, start },
      });
      made.push(children);
      return children;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const children of made) await children.close();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Optional programs of this machine. */
function programs(): Partial<KernelConfig["programs"]> {
  const found: Record<string, string> = {};
  for (const name of ["bwrap", "setpriv", "prlimit", "nice"]) {
    for (const path of [`/usr/bin/${name}`, `/bin/${name}`]) {
      try {
        if (Deno.statSync(path).isFile) found[name] ??= path;
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
  }
  return found;
}
