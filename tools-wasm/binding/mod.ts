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
export { bindPlugin, descriptorOf, effectOf } from "./binding.ts";
