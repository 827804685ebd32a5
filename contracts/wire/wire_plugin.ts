/** Messages between the kernel and a plugin host (a process without permissions). @module */
import type { Json, JsonObject } from "../base/json.ts";
import type { HostFunction } from "../tool/plugin.ts";

/** Kernel → plugin host, `load`: once for each plugin. Answered `null`, or the load gate's fault. */
export interface LoadPluginBody {
  readonly plugin: string;
  readonly engine: "wasm" | "script";
  /** SHA-256 of `code`'s bytes: of the module, or of the script. */
  readonly sha256: string;
  /** The module in base64, or the script's text; empty for the engine's own digest once loaded. */
  readonly code: string;
  /** Maximum memory in pages of 64 KiB. */
  readonly memoryPages: number;
  /** Granted host functions: they decide the imports, and the kernel checks each call again. */
  readonly hostFunctions: readonly HostFunction[];
  /** Exports to call in place of `run`, by tool; see PluginTool in plugin.ts. */
  readonly exports?: Readonly<Record<string, string>>;
}

/**
 * Kernel → plugin host, `engine`: the module that runs scripts, once, before the first script is
 * loaded; the same digest again is accepted at once. Answered `null`.
 */
export interface LoadEngineBody {
  readonly sha256: string;
  /** Base64. */
  readonly code: string;
}

/**
 * Kernel → plugin host, `call`. With `raw` the tool has an export of its own: the module receives
 * this text unchanged, and its whole output is the value, a text. One call at a time for each
 * plugin; others wait.
 */
export interface PluginCallBody {
  readonly id: string;
  readonly plugin: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly raw?: string;
  /** Maximum bytes of the value as JSON text; more is fault `tooLarge`. */
  readonly bytes: number;
}

/** Answer to `call`. */
export interface PluginCallAnswer {
  readonly value: Json;
  /** Lines logged by the plugin, including `console` of scripts, at most 64 KiB in all. */
  readonly logs: readonly string[];
  /** Number of instances made since the host started; the kernel replaces the host by this number. */
  readonly instances?: number;
}

/** Answer to `usage` (body `null`): totals since the host started. */
export interface PluginUsage {
  readonly instances: number;
  readonly calls: number;
  /** Bytes of WASM memory that live instances hold. */
  readonly wasmBytes: number;
}

/** Kernel → plugin host event, `cancel`: the next host call of that call fails with `cancelled`. */
export interface PluginCancel {
  readonly id: string;
}

/** Plugin host → kernel, `host`: a host function that the kernel serves. */
export interface HostFunctionBody {
  /** The calling call's id; attached by the host, never by the plugin. */
  readonly call: string;
  readonly fn: HostFunction;
  readonly args: JsonObject;
}

/** Host functions that the plugin host serves itself, when granted. */
export const LOCAL_FUNCTIONS: readonly HostFunction[] = ["log", "clock", "random"];

/** Maximum host calls of one call: Extism counts them in 16 bits and wraps silently. */
export const HOST_CALLS = 10_000;

/** Maximum bytes of one host call's arguments or answer, as JSON text. */
export const HOST_CALL_BYTES = 16 * 1024 * 1024;

/** Maximum frame between the kernel and a plugin host or the net service, bytes. */
export const WIDE_FRAME_BYTES = 24 * 1024 * 1024;
