/**
 * The build process: `main.ts OUT FOLDER…` builds each plugin folder into OUT and prints a line for
 * each. Only this process loads compilers, and it ends when done.
 *
 * @module
 */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../../contracts/base/fault.ts";
import { PluginManifest } from "../../contracts/tool/plugin.ts";
import { sha256Hex } from "../../port/digest.ts";
import { pluginKind } from "./plugin_folders_powers.ts";
import { parseToolYaml } from "./tool_yaml.ts";

/** The one plugin with its own build. */
const ENGINE = fileURLToPath(new URL("../exec", import.meta.url));
const KIT = fileURLToPath(new URL("../sdk/as/assembly", import.meta.url));

/** Each compiler is loaded when the first plugin needs it. */
const COMPILERS = {
  assembly: async (folder: string, memoryPages: number): Promise<Uint8Array> => {
    const { compileAssembly } = await import("./assembly_powers.ts");
    return await compileAssembly({ folder, kit: KIT, memoryPages });
  },
  script: async (folder: string): Promise<Uint8Array> => {
    const { bundleScript } = await import("../sdk/ts/bundle.ts");
    return new TextEncoder().encode(await bundleScript(folder));
  },
  own: async (folder: string): Promise<Uint8Array> => {
    if (folder !== ENGINE) {
      throw new Fault("invalidInput", `Cannot build "${folder}": only the engine builds itself`);
    }
    const { buildEngine } = await import("../exec/build.ts");
    return await buildEngine();
  },
};

const ENGINE_OF = { assembly: "wasm", own: "wasm", script: "script" } as const;

/**
 * Builds the plugin in `folder` (absolute) into `out`: `NAME.wasm` or `NAME.js`, and `NAME.json`,
 * its manifest with the hash of the code.
 *
 * @throws Fault `invalidInput` when its sources or its `tool.yaml` are wrong
 */
async function buildPlugin(folder: string, out: string): Promise<void> {
  const name = basename(folder);
  const kind = pluginKind(folder);
  if (kind === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot build "${name}": it has no assembly/index.ts and no tool.ts`,
    );
  }
  const written = parseToolYaml(Deno.readTextFileSync(join(folder, "tool.yaml")), name);
  const engine = ENGINE_OF[kind];
  if (written.engine !== engine) {
    throw new Fault(
      "invalidInput",
      `Cannot build "${name}": its tool.yaml says engine ${written.engine} and its source is ${engine}`,
    );
  }
  const code = await COMPILERS[kind](folder, written.memoryPages);
  const manifest = PluginManifest.parse({ ...written, sha256: sha256Hex(code) });
  const file = `${name}.${kind === "script" ? "js" : "wasm"}`;
  Deno.writeFileSync(join(out, file), code, { mode: 0o600 });
  Deno.writeTextFileSync(join(out, `${name}.json`), JSON.stringify(manifest), { mode: 0o600 });
}

function say(stream: typeof Deno.stdout, line: string): void {
  let bytes = new TextEncoder().encode(`${line}\n`);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}

if (import.meta.main) {
  const [out, ...folders] = Deno.args;
  try {
    for (const folder of folders) {
      const started = performance.now();
      await buildPlugin(folder, out ?? "");
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      say(Deno.stdout, `${basename(folder)} ${seconds} s`);
    }
  } catch (error) {
    say(Deno.stderr, error instanceof Fault ? error.message : String(error));
    Deno.exit(1);
  }
}
