/**
 * What the commands over plugins use: a builder, a reader of modules, and a host to run them.
 * @module
 */
import type { EffectClass } from "../../contracts/authority/mod.ts";
import type { Json, JsonObject } from "../../contracts/base/mod.ts";
import type { HostFunction, PluginManifest, ToolDescriptor } from "../../contracts/tool/mod.ts";

/** A complete plugin: its pinned manifest, and its module or script as hashed. */
export interface PluginCode {
  readonly manifest: PluginManifest;
  readonly code: Uint8Array;
}

/** An import of a module. */
export interface LookedImport {
  readonly module: string;
  readonly name: string;
  readonly kind: string;
  /** A function's signature, such as `i64 i64 -> i32`. */
  readonly signature?: string;
}

/** A module's declarations, read without running or compiling it. All names are untrusted. */
export interface ModuleLook {
  readonly imports: readonly LookedImport[];
  readonly exports: readonly Omit<LookedImport, "module">[];
  /** Its memories, in pages of 64 KiB. */
  readonly memories: readonly { readonly least: number; readonly most?: number }[];
  /** Whether code runs when an instance is made. */
  readonly start: boolean;
}

/** A foreign module, adapted. */
export interface Adapted {
  readonly module: Uint8Array;
  /** WASI imports replaced by stubs, as `MODULE.NAME`. */
  readonly stubs: readonly string[];
  /** Pages of 64 KiB that the module declared for its memory. */
  readonly memory: { readonly least: number; readonly most: number | null };
}

/** Serves a host function for one call of a test. Throws a fault to refuse. */
export type ServeHost = (fn: HostFunction, args: JsonObject) => Promise<Json>;

/** A process without permissions that holds one plugin. */
export interface PluginHost {
  /** Runs one call. Throws the plugin's fault, or `timedOut`, after which the host is gone. */
  call(tool: string, args: JsonObject, serve: ServeHost): Promise<{
    readonly value: Json;
    readonly logs: readonly string[];
  }>;
  /** Ends the process. */
  close(): Promise<void>;
}

/** Remit's own plugins, built. */
export interface BuiltPlugins {
  /** The module that runs scripts. */
  readonly engine: { readonly sha256: string; readonly file: string };
  readonly plugins: readonly { readonly manifest: PluginManifest; readonly file: string }[];
}

/** One of Remit's own tools outside plugins. */
export interface OwnTool {
  readonly descriptor: ToolDescriptor;
  /** Lowest effect of any call. */
  readonly effect: EffectClass;
  /** Its group in one word. */
  readonly group: "files" | "web" | "processes" | "memory";
}

/** The other parts of Remit that plugin commands need. Wired in by main.ts. */
export interface PluginKit {
  /** Remit's own plugins, built if necessary. */
  builtIn(): Promise<BuiltPlugins>;
  /** Names of tools outside plugins: no plugin may take them. */
  readonly reserved: readonly string[];
  /** The tools with those names, as far as an operator can call them. */
  ownTools(): Promise<readonly OwnTool[]>;
  /** Checks the types of a `tool.ts` without running it. Throws `invalidInput` with the errors. */
  check(folder: string): Promise<void>;
  /** Builds one plugin folder. Throws the compiler's message. */
  build(folder: string): Promise<PluginCode>;
  /** Parses a `tool.yaml`; returns the manifest without its hash. Throws `invalidInput`. */
  readToolYaml(text: string, name: string): Promise<Omit<PluginManifest, "sha256" | "signature">>;
  /** Reads a module's shape. Throws `invalidInput` for an invalid module. */
  look(module: Uint8Array): ModuleLook;
  /** All reasons why the load gate refuses the module; none if it is accepted. */
  judge(
    module: Uint8Array,
    manifest: Pick<PluginManifest, "memoryPages" | "tools">,
  ): readonly string[];
  /** Writes a memory maximum and WASI stubs into a module, in a process without permissions. */
  adapt(module: Uint8Array, pages: number): Promise<Adapted>;
  /** Starts a host and loads one plugin. Throws the load gate's fault. */
  host(plugin: PluginCode): Promise<PluginHost>;
}
