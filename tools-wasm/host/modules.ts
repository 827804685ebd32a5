/** Compiled modules, kept by the digest of their bytes. @module */
import { Fault } from "../../contracts/fault.ts";
import { MODULE_BYTES } from "./bounds.ts";
import { type GateRule, passGate } from "./load_gate.ts";
import type { ModuleShape } from "./module_shape.ts";
import { withMaxima } from "./with_maxima.ts";

/** A module that passed the gate. */
export interface Module {
  readonly sha256: string;
  readonly compiled: WebAssembly.Module;
  readonly shape: ModuleShape;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A module that is handed over. `code` is not looked at when the same digest was provided before. */
export interface GivenModule {
  readonly plugin: string;
  readonly sha256: string;
  /** Base64. */
  readonly code: string;
}

/** Checks and compiles modules, each once. */
export interface Modules {
  /** @throws {Fault} `refused`, `tooLarge`, `invalidInput`: the load gate's. */
  provide(given: GivenModule, rule: GateRule): Promise<Module>;
  /** The same module with a memory of at most `pages`. @throws {Fault} `refused` when it needs more. */
  narrowed(module: Module, pages: number): Promise<Module>;
}

/** Makes an empty store of modules. */
export function makeModules(
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
      // Also one that is known: another plugin may have another rule.
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
  // Before it is decoded: three bytes are four characters.
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
