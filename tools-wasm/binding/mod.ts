/**
 * Plugins' tools as the gate knows them: descriptors, effects, scopes, and the permissions of a
 * call.
 *
 * @example
 * ```ts
 * import { effectOf } from "./mod.ts";
 * effectOf({ hostFunctions: ["fs.read", "http.fetch"] }, {}); // "outboundRead"
 * ```
 * @module
 */
export { bindPlugin, descriptorOf, effectOf } from "./binding.ts";
