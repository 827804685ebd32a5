/** Makes plugins of what the kernel hands over: modules, and scripts for the engine. @module */
import { Fault } from "../../contracts/fault.ts";
import type { LoadEngineBody, LoadPluginBody } from "../../contracts/wire_plugin.ts";
import type { HostCallPowers } from "./host_call.ts";
import { makeModules, type Module } from "./modules.ts";
import { makePlugin, type Plugin, type PluginParts } from "./plugin.ts";

/** What a loader is made of. */
export interface LoaderParts extends Pick<PluginParts, "onInstance" | "onCall"> {
  /** SHA-256 in hex. */
  readonly sha256: (bytes: Uint8Array<ArrayBuffer>) => Promise<string>;
  readonly powers: HostCallPowers;
}

/** Loads plugins. */
export interface Loader {
  /** @throws {Fault} the load gate's, `refused` for another digest, `unavailable` without an engine. */
  plugin(body: LoadPluginBody): Promise<Plugin>;
  /** Takes the module that runs scripts, and runs one. @throws {Fault} the load gate's. */
  engine(body: LoadEngineBody): Promise<void>;
}

/** Pages of the engine itself; each script's tool.yaml says how many of them it may have. */
const ENGINE_PAGES = 4_096;
const RUN = "run";
const EXEC = "exec";
const encoder = new TextEncoder();

/** Makes a loader that knows no module and no engine. */
export function makeLoader({ sha256, ...parts }: LoaderParts): Loader {
  const modules = makeModules(sha256);
  let engine: Module | undefined;

  async function moduleOf(body: LoadPluginBody): Promise<Module> {
    const { plugin, memoryPages } = body;
    if (body.engine === "wasm") {
      const own = Object.values(body.exports ?? {});
      return await modules.provide(body, { memoryPages, exports: own.length > 0 ? own : [RUN] });
    }
    if (await sha256(encoder.encode(body.code)) !== body.sha256) {
      const why = "its script is not the pinned one";
      throw new Fault("refused", `Cannot load plugin "${plugin}": ${why}`);
    }
    if (engine === undefined) {
      const why = "no engine runs scripts here";
      throw new Fault("unavailable", `Cannot load plugin "${plugin}": ${why}`);
    }
    return await modules.narrowed(engine, memoryPages);
  }

  return Object.freeze({
    async plugin(body: LoadPluginBody): Promise<Plugin> {
      const { plugin, sha256: digest, hostFunctions, exports = {} } = body;
      const { compiled } = await moduleOf(body);
      return makePlugin({
        ...parts,
        module: compiled,
        grants: { plugin, granted: new Set(hostFunctions) },
        exports,
        ...(body.engine === "script" ? { script: body.code } : {}),
        // What one program left in the engine, the next one would find.
        fresh: (tool) => body.engine === "wasm" && (tool === EXEC || engine?.sha256 === digest),
        // Its build says that nothing but memory and exported globals changes in it.
        rewinds: body.engine === "wasm" && engine?.sha256 === digest,
      });
    },

    async engine(body: LoadEngineBody): Promise<void> {
      const rule = { memoryPages: ENGINE_PAGES, exports: [RUN] };
      engine = await modules.provide({ plugin: "engine", ...body }, rule);
      // V8 compiles a function when it is first called: this program pays for all later ones.
      const first = makePlugin({
        ...parts,
        module: engine.compiled,
        grants: { plugin: "engine", granted: new Set() },
        exports: {},
        fresh: () => true,
        rewinds: false,
      });
      const call = { id: "@engine", plugin: "engine", tool: EXEC, args: { code: "1" }, bytes: 256 };
      await first.call(call).catch((error) => {
        if (!(error instanceof Fault)) throw error;
      });
    },
  });
}
