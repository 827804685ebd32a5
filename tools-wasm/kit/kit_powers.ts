/** Assembles the kit of the plugin commands. The parts of tools-wasm/ come from main.ts. @module */
import { basename, join } from "node:path";
import { Fault } from "../../contracts/base/fault.ts";
import { PluginManifest } from "../../contracts/tool/mod.ts";
import { provideBundles } from "../../launch/program/bundles_powers.ts";
import type { Progress } from "../../launch/disk/machine.ts";
import type { BuiltPlugins, PluginCode, PluginKit } from "./kit.ts";
import { adaptModule } from "./adapt_powers.ts";
import { startPluginHost } from "./host_powers.ts";

/** The parts from tools-wasm/. */
export interface PluginParts extends Pick<PluginKit, "look" | "reserved" | "ownTools"> {
  provideTools(options: {
    readonly home: string;
    readonly cache: string;
    readonly onBuild: (text: string) => void;
  }): Promise<BuiltPlugins>;
  runBuild(options: {
    readonly home: string;
    readonly out: string;
    readonly folders: readonly string[];
    readonly onBuild: (text: string) => void;
  }): Promise<void>;
  readToolYaml(text: string, name: string): ReturnType<PluginKit["readToolYaml"]>;
  judge(
    module: Uint8Array,
    rule: { readonly memoryPages: number; readonly exports: readonly string[] },
  ): readonly string[];
}

/** The kit's folders, and its progress display. */
export interface KitPlace {
  /** Remit's own folder. */
  readonly home: string;
  /** Folder of everything built; called when needed. */
  cache(): string;
  readonly screen: Progress;
}

/** Exports that the load gate requires: `run`, or the tools' own. */
function exportsOf(tools: PluginManifest["tools"]): readonly string[] {
  const own = tools.flatMap((tool) => tool.export === undefined ? [] : [tool.export]);
  if (own.length === tools.length) return own;
  return [...own, "run"];
}

/** Maximum characters shown of the compiler's output. */
const MAX_SHOWN = 4_000;

/** Checks `tool.ts` as Deno does: reads the folder's sources, fetches and runs nothing. */
async function checkTypes(folder: string, denoDir: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "--no-config", "--no-lock", "--no-remote", "--no-npm", "tool.ts"],
    cwd: folder,
    clearEnv: true,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", DENO_DIR: denoDir },
    ...{ stdin: "null", stdout: "null", stderr: "piped" },
  }).output();
  if (success) return;
  const errors = new TextDecoder().decode(stderr.slice(0, MAX_SHOWN)).replaceAll(
    `file://${folder}/`,
    "",
  )
    .replace(/\n*(?:error: )?Type checking failed[^]*$/, "").trim();
  throw new Fault(
    "invalidInput",
    `Cannot build "${basename(folder)}": tool.ts has wrong types:\n${errors}`,
  );
}

/** Makes the kit. */
export function makePluginKit(parts: PluginParts, place: KitPlace): PluginKit {
  const { home, screen } = place;
  const onBuild = (text: string): void => screen.say(screen.paint.dim(`remit  ${text}`));
  let built: Promise<BuiltPlugins> | undefined;
  const builtIn = (): Promise<BuiltPlugins> =>
    built ??= parts.provideTools({ home, cache: join(place.cache(), "tools"), onBuild });
  return Object.freeze({
    builtIn,
    reserved: parts.reserved,
    ownTools: parts.ownTools,
    readToolYaml: parts.readToolYaml,
    look: parts.look,
    judge: (module: Uint8Array, { memoryPages, tools }: Parameters<PluginKit["judge"]>[1]) =>
      parts.judge(module, { memoryPages, exports: exportsOf(tools) }),
    adapt: (module: Uint8Array, pages: number) => adaptModule(home, module, pages),
    check: (folder: string) => checkTypes(folder, join(place.cache(), "types")),
    async build(folder: string): Promise<PluginCode> {
      const out = Deno.makeTempDirSync({ prefix: "remit-tool-" });
      try {
        const hint = (text: string): void => screen.hint(text);
        await parts.runBuild({ home, out, folders: [folder], onBuild: hint });
        const name = basename(folder);
        const manifest = PluginManifest.parse(
          JSON.parse(Deno.readTextFileSync(join(out, `${name}.json`))),
        );
        const file = `${name}.${manifest.engine === "script" ? "js" : "wasm"}`;
        return { manifest, code: Deno.readFileSync(join(out, file)) };
      } finally {
        screen.hint("");
        Deno.removeSync(out, { recursive: true });
      }
    },
    async host(plugin: PluginCode) {
      const bundles = await provideBundles({
        home,
        cache: place.cache(),
        onBuild: () => onBuild("building its programs, once for this version …"),
      });
      const { children: { plugin: bundle }, denoDir } = bundles;
      return await startPluginHost({
        ...{ bundle, denoDir },
        engine: async () => (await builtIn()).engine,
      }, plugin);
    },
  });
}
