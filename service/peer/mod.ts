/**
 * Peers over A2A: credentials, the signed card, exchanges, streams and deliveries.
 *
 * @example
 * ```ts
 * import { keySetText } from "./mod.ts";
 * if (!keySetText("A".repeat(43)).includes('"kty":"OKP"')) throw new Error("no key set");
 * ```
 * @module
 */
export { keySetText } from "./card.ts";
export { type KeyFetch, openPeerTokens } from "./credential.ts";
export { openPeerFront, type PeerFrontParts, type PeerRules } from "./front.ts";
export type { PeerMediator } from "./mediator.ts";
