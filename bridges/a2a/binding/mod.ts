/**
 * Tools of A2A peers as the gate knows them: AgentPeer's describe, send and artifact. Seed 001, A2A; issue 7.
 *
 * @example
 * ```ts
 * import { PEER_TOOLS } from "./mod.ts";
 * if (!PEER_TOOLS.includes("describe")) throw new Error("each peer can be described");
 * ```
 * @module
 */
export { bindPeer, PEER_TOOLS } from "./bind_peer.ts";
