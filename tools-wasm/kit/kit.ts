/** What the commands over plugins are handed: a builder, a reader of modules, and a place to run them. @module */
import type { EffectClass } from "../../contracts/authority/mod.ts";
import type { Json, JsonObject } from "../../contracts/base/mod.ts";
import type { HostFunction, PluginManifest, ToolDescriptor } from "../../contracts/tool/mod.ts";

/** A plugin that is whole: its pinned manifest, and its module or script as it is hashed. */
export interface PluginCode {
  readonly manifest: PluginManifest;
  readonly code: Uint8Array;
}

/** An import of a module. */
export interface LookedImport {
  readonly module: string;
  readonly name: string;
  readonly kind: string;
  /** Of a function, as in `i64 i64 -> i32`. */
  readonly signature?: string;
}

/** What a module declares, read without running or compiling it. All names are untrusted. */
export interface ModuleLook {
  readonly imports: readonly LookedImport[];
  readonly exports: readonly Omit<LookedImport, "module">[];
  /** Its memories, in pages of 64 KiB. */
  readonly memories: readonly { readonly least: number; readonly most?: number }[];
  /** Whether code runs when an instance is made. */
  readonly start: boolean;
}

/** A foreign module made to fit. */
export interface Adapted {
  readonly module: Uint8Array;
  /** Imports of WASI that got stubs, as `MODULE.NAME`. */
  readonly stubs: readonly string[];
  /** Pages of 64 KiB that the module declared for its memory. */
  readonly memory: { readonly least: number; readonly most: number | null };
}

/** Serves a host function for one call of a test. Throws a fault to refuse it. */
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

/** A tool of Remit's own that is no plugin's. */
export interface OwnTool {
  readonly descriptor: ToolDescriptor;
  /** Lowest effect of any call. */
  readonly effect: EffectClass;
  /** What it belongs to, in a word. */
  readonly group: "files" | "web" | "processes" | "memory";
}

/** Everything about plugins that needs other parts of Remit. Wired in by main.ts. */
export interface PluginKit {
  /** Remit's own plugins, built if they are not. */
  builtIn(): Promise<BuiltPlugins>;
  /** Names of tools that are no plugin's: none may take them. */
  readonly reserved: readonly string[];
  /** The tools that those names stand for, as far as an operator calls them. */
  ownTools(): Promise<readonly OwnTool[]>;
  /** Checks the types of a folder's `tool.ts`, which nothing of is run for. Throws `invalidInput` with what is wrong. */
  check(folder: string): Promise<void>;
  /** Builds one plugin folder. Throws what the compiler said. */
  build(folder: string): Promise<PluginCode>;
  /** Parses the text of a `tool.yaml`; gives the manifest without its hash. Throws `invalidInput`. */
  readToolYaml(text: string, name: string): Promise<Omit<PluginManifest, "sha256" | "signature">>;
  /** Reads a module's shape. Throws `invalidInput` for what is no module. */
  look(module: Uint8Array): ModuleLook;
  /** Every reason for which the load gate refuses the module; none when it lets it in. */
  judge(
    module: Uint8Array,
    manifest: Pick<PluginManifest, "memoryPages" | "tools">,
  ): readonly string[];
  /** Writes a memory's maximum and stubs for WASI into a module, in a process without permissions. */
  adapt(module: Uint8Array, pages: number): Promise<Adapted>;
  /** Starts a host, and loads one plugin into it. Throws the load gate's fault. */
  host(plugin: PluginCode): Promise<PluginHost>;
}
