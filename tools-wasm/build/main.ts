/**
 * The build process: `main.ts OUT FOLDER…` builds each plugin folder into OUT and prints a line for
 * each. Only this process loads compilers, and it ends when done.
 *
 * @module
 */
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../../contracts/base/fault.ts";
import { buildPlugin, type Compilers } from "./build_plugin_powers.ts";

/** The one plugin with its own build. */
const ENGINE = fileURLToPath(new URL("../exec", import.meta.url));
const KIT = fileURLToPath(new URL("../sdk/as/assembly", import.meta.url));

/** Each compiler is loaded when the first plugin needs it. */
const COMPILERS: Compilers = {
  assembly: async (folder, memoryPages) => {
    const { compileAssembly } = await import("./assembly_powers.ts");
    return await compileAssembly({ folder, kit: KIT, memoryPages });
  },
  script: async (folder) => {
    const { bundleScript } = await import("../sdk/ts/bundle.ts");
    return await bundleScript(folder);
  },
  own: async (folder) => {
    if (folder !== ENGINE) {
      throw new Fault("invalidInput", `Cannot build "${folder}": only the engine builds itself`);
    }
    const { buildEngine } = await import("../exec/build.ts");
    return await buildEngine();
  },
};

function say(stream: typeof Deno.stdout, line: string): void {
  let bytes = new TextEncoder().encode(`${line}\n`);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}

if (import.meta.main) {
  const [out, ...folders] = Deno.args;
  try {
    for (const folder of folders) {
      const started = performance.now();
      await buildPlugin(COMPILERS, { folder, out: out ?? "" });
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      say(Deno.stdout, `${basename(folder)} ${seconds} s`);
    }
  } catch (error) {
    say(Deno.stderr, error instanceof Fault ? error.message : String(error));
    Deno.exit(1);
  }
}
