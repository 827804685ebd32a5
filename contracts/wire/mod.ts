/**
 * Frames of each port between processes, and their limits.
 *
 * @example
 * ```ts
 * import { CONTROL_VERSION } from "./mod.ts";
 * if (!Number.isInteger(CONTROL_VERSION)) throw new Error("no version");
 * ```
 * @module
 */
export * from "./wire_a2a.ts";
export * from "./wire_control.ts";
export * from "./wire_mcp.ts";
export * from "./wire_model.ts";
export * from "./wire_net.ts";
export * from "./wire_plugin.ts";
export * from "./wire_serve.ts";
export * from "./wire_toolhost.ts";
export * from "./wire_wiki.ts";
export * from "./wire_worker.ts";
