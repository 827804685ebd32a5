/**
 * Serves Remit as an A2A peer: protocol 1.0 over JSON-RPC and HTTP+JSON. The starter decides; this
 * code has no right of its own.
 *
 * @example
 * ```ts
 * import { CARD_PATH, JSON_RPC_PATH, REST_PATH } from "./mod.ts";
 * const paths = [CARD_PATH, JSON_RPC_PATH, REST_PATH];
 * if (paths.some((path) => !path.startsWith("/"))) throw new Error("paths are absolute");
 * ```
 * @module
 */
export {
  type A2aBounds,
  type A2aServer,
  CARD_PATH,
  JSON_RPC_PATH,
  makeA2aServer,
  REST_PATH,
} from "./server.ts";
export { renderPush } from "./stream_events.ts";
