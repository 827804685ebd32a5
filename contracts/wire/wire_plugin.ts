/** What the kernel and a plugin host (a process without permissions) say to each other. @module */
import type { Json, JsonObject } from "../base/json.ts";
import type { HostFunction } from "../tool/plugin.ts";

/** Kernel → plugin host, `load`: once for each plugin. Answered `null`, or the load gate's fault. */
export interface LoadPluginBody {
  readonly plugin: string;
  readonly engine: "wasm" | "script";
  /** SHA-256 of `code`'s bytes: of the module, or of the script. */
  readonly sha256: string;
  /** The module in base64, or the script's text; empty for the digest of the engine, when it is there. */
  readonly code: string;
  /** Pages of 64 KiB that its memory may have, at most. */
  readonly memoryPages: number;
  /** What it may ask for: decides the imports and is checked again for each call by the kernel. */
  readonly hostFunctions: readonly HostFunction[];
  /** Exports that are called in place of `run`, by tool; see PluginTool in plugin.ts. */
  readonly exports?: Readonly<Record<string, string>>;
}

/**
 * Kernel → plugin host, `engine`: the module that runs scripts, before the first script is loaded,
 * and once: the same digest again is answered at once. Answered `null`.
 */
export interface LoadEngineBody {
  readonly sha256: string;
  /** Base64. */
  readonly code: string;
}

/**
 * Kernel → plugin host, `call`. `raw` set: the tool has an export of its own; the module is given
 * this text as it is, and its whole output is the value, a text. One call at a time for each plugin; more wait their turn. */
export interface PluginCallBody {
  readonly id: string;
  readonly plugin: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly raw?: string;
  /** Most bytes of the value as JSON text; more is fault `tooLarge`. */
  readonly bytes: number;
}

/** Answer to `call`. */
export interface PluginCallAnswer {
  readonly value: Json;
  /** Lines that it logged, and `console` of scripts, together at most 64 KiB. */
  readonly logs: readonly string[];
  /** Instances that the host has made since it began: by these it is replaced. */
  readonly instances?: number;
}

/** Answer to `usage` (body `null`): what a host has made since it began. */
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

/** Plugin host → kernel, `host`: a host function that the host does not serve itself. */
export interface HostFunctionBody {
  /** The call that asks: attached by the host, never by the plugin. */
  readonly call: string;
  readonly fn: HostFunction;
  readonly args: JsonObject;
}

/** Host functions that the plugin host serves itself, when granted. */
export const LOCAL_FUNCTIONS: readonly HostFunction[] = ["log", "clock", "random"];

/** Most host calls of one call: Extism counts them in 16 bits and wraps silently. */
export const HOST_CALLS = 10_000;

/** Most bytes of one host call's arguments or answer, as JSON text. */
export const HOST_CALL_BYTES = 16 * 1024 * 1024;

/** Longest frame between the kernel and a plugin host or the net service, bytes. */
export const WIDE_FRAME_BYTES = 24 * 1024 * 1024;
