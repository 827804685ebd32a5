/** Plugins and commands in a real kernel: many tasks at once, and programs of both kinds. @module */
import { MountName } from "../contracts/authority/mod.ts";
import type { Mount } from "../contracts/tool/mod.ts";
import type { KernelConfig } from "../contracts/wire/mod.ts";
import { findCommands } from "../launch/program/command_programs_powers.ts";
import { provideTools } from "../tools-wasm/build/mod.ts";
import { type BenchKernel, benchRequest, cacheFolder, startBenchKernel } from "./_kernel.ts";
import { median } from "./quantile.ts";
import type { Row } from "./row.ts";
import { timed } from "./world.ts";

const HOME = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
const TASKS = 20;
const TURNS = 5;
const CALLS = 10;

/** A play that makes the same call `TURNS` times `CALLS` times. */
function scenario(tool: string, args: object): string {
  const call = `{ tool: ${tool}, args: ${JSON.stringify(args)} }`;
  const calls = Array.from({ length: CALLS }, () => call).join(", ");
  const turns = Array.from({ length: TURNS }, (_, n) => `  - { name: t${n}, calls: [${calls}] }`);
  return ["scenario: plugins", "turns:", ...turns, "  - { name: end, say: Done. }"].join("\n");
}

/** Rows for `deno task bench`. */
export async function pluginTasksBench(): Promise<Row[]> {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-bench-mount-" }));
  await Deno.writeTextFile(`${dir}/a.txt`, "one line of text\n".repeat(40));
  const mount: Mount = {
    name: MountName.parse("m"),
    dir,
    mode: "ro",
    colour: "YELLOW",
    label: "internal",
    marks: [],
  };
  const { engine, plugins } = await provideTools({
    ...{ home: HOME, cache: `${cacheFolder()}/tools` },
    onBuild: () => undefined,
  });
  const tools: KernelConfig["tools"] = {
    engine,
    plugins: plugins.map((plugin) => ({ ...plugin, trusted: true })),
  };
  const { commands } = findCommands({ bincat: { program: "/bin/cat" } }, "");
  const kernel = await startBenchKernel({ tools, commands });
  try {
    return [await many(kernel), ...await programs(kernel, mount)];
  } finally {
    await kernel.close();
    await Deno.remove(dir, { recursive: true });
  }
}

async function all(kernel: BenchKernel, count: number, play: string, mounts: readonly Mount[]) {
  const request = benchRequest(play, mounts);
  return await timed(async () => {
    const exits = await Promise.all(Array.from({ length: count }, () => kernel.run(request)));
    if (exits.some((exit) => exit !== 0)) throw new Error(`tasks failed: ${exits.join(" ")}`);
  });
}

async function many(kernel: BenchKernel): Promise<Row> {
  const counting = scenario("text_count", { text: "one two three" });
  // What the gate refuses costs all but the plugin.
  const refused = scenario("file_delete", { path: "nowhere/a" });
  await all(kernel, 1, counting, []);
  const baseline = await all(kernel, TASKS, refused, []);
  const value = await all(kernel, TASKS, counting, []);
  return {
    name: `${TASKS * TURNS * CALLS} plugin calls across ${TASKS} tasks, against as many refusals`,
    value,
    unit: "ms",
    baseline,
    ratio: value / baseline,
    target: "(told)",
    ok: true,
  };
}

async function programs(kernel: BenchKernel, mount: Mount): Promise<Row[]> {
  const spawned: number[] = [];
  for (let i = 0; i < 30; i++) {
    const cat = new Deno.Command("/bin/cat", { args: [`${mount.dir}/a.txt`], stdout: "null" });
    spawned.push(await timed(() => cat.output()));
  }
  const baseline = median(spawned);
  const rows: Row[] = [];
  for (const [program, what] of [["cat", "in WASM"], ["bincat", "under bubblewrap"]] as const) {
    const play = scenario("command", { program, args: ["a.txt"], cwd: "m" });
    await all(kernel, 1, play, [mount]);
    const value = await all(kernel, 1, play, [mount]) / (TURNS * CALLS);
    rows.push({
      name: `command cat ${what}, a call in a task, against a bare process`,
      value,
      unit: "ms",
      baseline,
      ratio: value / baseline,
      target: "(told)",
      ok: true,
    });
  }
  return rows;
}
