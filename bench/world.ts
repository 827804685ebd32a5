/** Bundled children and a configuration around them, for benches of the kernel. @module */
import type { KernelConfig, Powers } from "../contracts/mod.ts";
import { realPowers } from "../kernel/_fixture/small_children.ts";
import { type Children, makeChildren } from "../kernel/child/children.ts";
import { makeSpawnPowers } from "../kernel/start/spawn_powers.ts";

const ENTRIES = {
  worker: "runner/main.ts",
  toolhost: "workspace/host/main.ts",
  model: "models/main.ts",
  remote: "models/remote/main.ts",
  local: "models/local/main.ts",
  native: "models/native/main.ts",
} as const;
/** Built as the command line builds them (cli/program/bundles_powers.ts, cli/model/programs_powers.ts). */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  model: ["--platform", "browser"],
  remote: ["--platform", "deno"],
  local: ["--platform", "browser"],
  native: ["--platform", "deno"],
};

/** A folder with bundles and a warmed code cache, removed when it is disposed of. */
export interface BenchWorld extends AsyncDisposable {
  readonly dir: string;
  readonly deno: string;
  readonly powers: Powers;
  children(changes?: Partial<KernelConfig>): Promise<Children>;
}

/** Builds the bundles of these roles; seconds. */
export async function makeBenchWorld(
  roles: readonly (keyof typeof ENTRIES)[],
): Promise<BenchWorld> {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-bench-" }));
  const home = new URL("..", import.meta.url).pathname;
  const deno = await Deno.realPath(Deno.execPath());
  for (const folder of ["deno", "run", "content", "scratch", "desk"]) {
    await Deno.mkdir(`${dir}/${folder}`);
  }
  await Deno.writeTextFile(`${dir}/empty.js`, "");
  for (const role of roles) {
    const out = `${dir}/${role}.js`;
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
  for (const role of roles) await warmCache(deno, `${dir}/${role}.js`, `${dir}/deno`);
  const powers = realPowers();
  const made: Children[] = [];
  return {
    dir,
    deno,
    powers,
    async children(changes = {}): Promise<Children> {
      const children = await makeChildren({
        config: {
          programs: { deno, ...programs() },
          bundles: {
            worker: `${dir}/worker.js`,
            toolhost: `${dir}/toolhost.js`,
            model: `${dir}/model.js`,
            plugin: `${dir}/plugin.js`,
            net: `${dir}/net.js`,
            copy: `${dir}/copy.js`,
            browser: "",
            remote: `${dir}/remote.js`,
            local: `${dir}/local.js`,
            native: `${dir}/native.js`,
            wiki: "",
            mcp: "",
            mcpTree: "",
            mcpRelay: "",
            a2a: "",
          },
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
        spawn: makeSpawnPowers(),
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

/** Starts a program twice without work, as the build does, so that its compiled code is in the cache. */
async function warmCache(deno: string, bundle: string, denoDir: string): Promise<void> {
  for (let i = 0; i < 2; i++) {
    await new Deno.Command(deno, {
      args: ["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--cached-only", bundle],
      clearEnv: true,
      env: { DENO_DIR: denoDir, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
  }
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
