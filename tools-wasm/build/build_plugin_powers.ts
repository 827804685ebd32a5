/** Builds one plugin folder into a module or script and its pinned manifest. @module */
import { basename, join } from "node:path";
import { Fault } from "../../contracts/base/fault.ts";
import { PluginManifest } from "../../contracts/tool/plugin.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { BuiltPlugin } from "./built_tools.ts";
import { pluginKind } from "./plugin_folders_powers.ts";
import { parseToolYaml } from "./tool_yaml.ts";

/** The compilers, supplied by the build process, which alone loads them. */
export interface Compilers {
  /** Compiles `folder/assembly/index.ts`; the memory has at most so many pages of 64 KiB. */
  readonly assembly: (folder: string, memoryPages: number) => Promise<Uint8Array>;
  /** Bundles `folder/tool.ts` into one JavaScript text for the engine. */
  readonly script: (folder: string) => Promise<string>;
  /** Runs `folder/build.ts`. */
  readonly own: (folder: string) => Promise<Uint8Array>;
}

const ENGINE = { assembly: "wasm", own: "wasm", script: "script" } as const;

/**
 * Builds the plugin in `folder` (absolute) into `out`: `NAME.wasm` or `NAME.js`, and `NAME.json`,
 * its manifest with the hash of the code.
 *
 * @throws Fault `invalidInput` when its sources or its `tool.yaml` are wrong
 */
export async function buildPlugin(
  compilers: Compilers,
  { folder, out }: { readonly folder: string; readonly out: string },
): Promise<BuiltPlugin> {
  const name = basename(folder);
  const kind = pluginKind(folder);
  if (kind === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot build "${name}": it has no assembly/index.ts and no tool.ts`,
    );
  }
  const written = parseToolYaml(Deno.readTextFileSync(join(folder, "tool.yaml")), name);
  if (written.engine !== ENGINE[kind]) {
    throw new Fault(
      "invalidInput",
      `Cannot build "${name}": its tool.yaml says engine ${written.engine} and its source is ${
        ENGINE[kind]
      }`,
    );
  }
  const code = kind === "assembly"
    ? await compilers.assembly(folder, written.memoryPages)
    : kind === "own"
    ? await compilers.own(folder)
    : new TextEncoder().encode(await compilers.script(folder));
  const manifest = PluginManifest.parse({ ...written, sha256: sha256Hex(code) });
  const file = `${name}.${kind === "script" ? "js" : "wasm"}`;
  Deno.writeFileSync(join(out, file), code, { mode: 0o600 });
  Deno.writeTextFileSync(join(out, `${name}.json`), JSON.stringify(manifest), { mode: 0o600 });
  return { manifest, file };
}
