/** Makes plugins of the kernel's modules, and of scripts for the engine. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { LoadEngineBody, LoadPluginBody } from "../../contracts/wire/wire_plugin.ts";
import type { HostCallPowers } from "./host_call.ts";
import { makePlugin, type Plugin, type PluginParts } from "./plugin.ts";
import { MODULE_BYTES } from "./bounds.ts";
import { type GateRule, passGate } from "./load_gate.ts";
import type { ModuleShape } from "./module_shape.ts";
import { withMaxima } from "./with_maxima.ts";

/** The parts of a loader. */
interface LoaderParts extends Pick<PluginParts, "onInstance" | "onCall"> {
  /** SHA-256 in hex. */
  readonly sha256: (bytes: Uint8Array<ArrayBuffer>) => Promise<string>;
  readonly powers: HostCallPowers;
}

/** Loads plugins. */
interface Loader {
  /**
   * @throws {Fault} the load gate's, `refused` for another digest, `unavailable` without an engine
   */
  plugin(body: LoadPluginBody): Promise<Plugin>;
  /** Accepts the module that runs scripts, and runs one. @throws {Fault} the load gate's */
  engine(body: LoadEngineBody): Promise<void>;
}

/** Memory pages of the engine itself; each script's tool.yaml may lower the number. */
const ENGINE_PAGES = 4_096;
const RUN = "run";
const EXEC = "exec";
const encoder = new TextEncoder();

/** Makes a loader without modules or engine. */
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
        // A program could leave data in the engine for the next program.
        fresh: (tool) => body.engine === "wasm" && (tool === EXEC || engine?.sha256 === digest),
        // The engine's build guarantees that only memory and exported globals change.
        rewinds: body.engine === "wasm" && engine?.sha256 === digest,
      });
    },

    async engine(body: LoadEngineBody): Promise<void> {
      const rule = { memoryPages: ENGINE_PAGES, exports: [RUN] };
      engine = await modules.provide({ plugin: "engine", ...body }, rule);
      // V8 compiles a function at its first call: this program spares all later ones the delay.
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

// Compiled modules, by the digest of their bytes.

/** A module that passed the gate. */
interface Module {
  readonly sha256: string;
  readonly compiled: WebAssembly.Module;
  readonly shape: ModuleShape;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A module from the kernel. `code` is ignored when the same digest was provided before. */
interface GivenModule {
  readonly plugin: string;
  readonly sha256: string;
  /** Base64. */
  readonly code: string;
}

/** Checks and compiles modules, each once. */
interface Modules {
  /** @throws {Fault} `refused`, `tooLarge`, `invalidInput`: the load gate's */
  provide(given: GivenModule, rule: GateRule): Promise<Module>;
  /**
   * The same module with a memory of at most `pages`. @throws {Fault} `refused` when it needs more
   */
  narrowed(module: Module, pages: number): Promise<Module>;
}

/** Makes an empty store of modules. */
function makeModules(
  sha256: (bytes: Uint8Array<ArrayBuffer>) => Promise<string>,
): Modules {
  const known = new Map<string, Module>();

  async function compile(
    plugin: string,
    parts: Omit<Module, "compiled">,
    pages: number,
  ): Promise<Module> {
    const key = `${parts.sha256} ${pages}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    try {
      const compiled = await WebAssembly.compile(withMaxima(parts.bytes, parts.shape, pages));
      const module = Object.freeze({ ...parts, compiled });
      known.set(key, module);
      return module;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message.slice(0, 300) : "";
      throw new Fault("invalidInput", `Cannot load plugin "${plugin}": ${why}`, { cause });
    }
  }
  return Object.freeze({
    async provide(given: GivenModule, rule: GateRule): Promise<Module> {
      const { plugin } = given;
      const before = known.get(`${given.sha256} 0`);
      const bytes = before?.bytes ?? decoded(given);
      if (before === undefined && await sha256(bytes) !== given.sha256) {
        throw new Fault("refused", `Cannot load plugin "${plugin}": it is not the pinned module`);
      }
      // Checked for a known module, too: another plugin may have another rule.
      const shape = passGate(plugin, bytes, rule);
      return await compile(plugin, { sha256: given.sha256, shape, bytes }, 0);
    },
    async narrowed(module: Module, pages: number): Promise<Module> {
      const [memory] = module.shape.memories;
      if (memory === undefined || (memory.most ?? 0) <= pages) return module;
      if (memory.least > pages) {
        throw new Fault("refused", `Cannot run scripts in ${pages} pages: ${memory.least} needed`);
      }
      return await compile("engine", module, pages);
    },
  });
}

function decoded({ plugin, code }: GivenModule): Uint8Array<ArrayBuffer> {
  // Checked before decoding: three bytes are four characters.
  if (code.length > Math.ceil(MODULE_BYTES / 3) * 4) {
    throw new Fault(
      "tooLarge",
      `Cannot load plugin "${plugin}": its module is longer than ${MODULE_BYTES} bytes`,
    );
  }
  try {
    return Uint8Array.fromBase64(code);
  } catch (cause) {
    throw new Fault("invalidInput", `Cannot load plugin "${plugin}": not base64`, { cause });
  }
}
