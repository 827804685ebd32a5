/**
 * Plugins' tools as the gate knows them: descriptors, effects, scopes, and what one call may do.
 *
 * @example
 * ```ts
 * import { effectOf } from "./mod.ts";
 * effectOf({ hostFunctions: ["fs.read", "http.fetch"] }, {}); // "outboundRead"
 * ```
 * @module
 */
export {
  bindPlugin,
  type CallGrants,
  descriptorOf,
  effectOf,
  netScope,
  type PluginParts,
  type PluginRan,
  type PluginRun,
} from "./binding.ts";
