/** The plugin host as the kernel starts it: bundled, in a process without any permission. @module */
import assert from "node:assert/strict";
import { type Child, startChild } from "../../../kernel/core/child/child.ts";
import { makeSpawnPowers } from "../../../kernel/core/start/spawn_powers.ts";
import { lineOutside } from "../../../kernel/core/start/start_line.ts";
import { probeWalls } from "../../../kernel/core/start/walls.ts";
import type { PortHandler } from "../../../contracts/base/port.ts";

/** The bundle and the options of its processes, removed when it is disposed of. */
export interface Bundle extends AsyncDisposable {
  readonly file: string;
  /** Starts a host. `handler` is the kernel's side. */
  start(handler: PortHandler, options?: { readonly pooled: boolean }): Child;
}

const find = (name: string): Record<string, string> => {
  for (const path of [`/usr/bin/${name}`, `/bin/${name}`]) {
    try {
      if (Deno.statSync(path).isFile) return { [name]: path };
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return {};
};

/** Bundles as launch/program/bundles_powers.ts does, and warms the code cache. */
export async function bundlePluginHost(): Promise<Bundle> {
  const dir = await Deno.makeTempDir({ prefix: "remit-plugin-" });
  const file = `${dir}/plugin.js`;
  const home = new URL("../../../", import.meta.url).pathname;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--no-check", "--config", `${home}deno.json`].concat(
      ["--platform", "browser", "--minify", "--keep-names", "-o", file],
      `${home}tools-wasm/host/main.ts`,
    ),
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  await Deno.mkdir(`${dir}/deno`);
  const config = {
    bundles: {
      worker: file,
      toolhost: file,
      model: file,
      plugin: file,
      net: file,
      copy: file,
      browser: file,
      remote: "",
      local: "",
      native: "",
      wiki: "",
      mcp: "",
      mcpTree: "",
      mcpRelay: "",
      store: "",
      a2a: "",
      agentClient: "",
      agentRelay: "",
    },
    dir,
    denoDir: `${dir}/deno`,
    programs: {
      deno: await Deno.realPath(Deno.execPath()),
      ...find("setpriv"),
      ...find("prlimit"),
      ...find("nice"),
    },
  };
  const spawn = makeSpawnPowers();
  const walls = await probeWalls(config, spawn);
  const started: Child[] = [];
  const start = (handler: PortHandler, options = { pooled: false }): Child => {
    const child = startChild({
      role: "plugin",
      line: lineOutside(config, walls, "plugin", options),
      handler,
      spawn,
      now: () => performance.now(),
    });
    started.push(child);
    return child;
  };
  // Twice: Deno writes the code cache at the second start.
  for (let i = 0; i < 2; i++) {
    const { program, args, env } = lineOutside(config, walls, "plugin", { pooled: true });
    await new Deno.Command(program, { args: [...args], clearEnv: true, env, stdin: "null" })
      .output();
  }
  return {
    file,
    start,
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(started.map((child) => child.kill()));
      await Deno.remove(dir, { recursive: true });
    },
  };
}

/** Tells whether an operating-system process with this id runs (a zombie does not). */
export function runs(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
