/**
 * Tools of A2A peers as the gate knows them: AgentPeer's describe, send and artifact.
 *
 * @example
 * ```ts
 * import type { bindPeer } from "./mod.ts";
 * // Handed to the gate of each task that was granted the peer:
 * type Parts = Parameters<typeof bindPeer>[1];
 * const asks: keyof Parts = "ask";
 * ```
 * @module
 */
export { bindPeer } from "./bind_peer.ts";
