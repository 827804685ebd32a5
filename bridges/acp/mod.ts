/**
 * The Agent Client Protocol: Remit as an agent of editors.
 *
 * @example
 * ```ts
 * import { makeSessionUpdates } from "./mod.ts";
 * const updates = makeSessionUpdates({ pathOf: () => undefined, window: 8_192 });
 * const [update] = updates.take({ kind: "chunk", text: "Hello" }, { past: false });
 * if (update?.sessionUpdate !== "agent_message_chunk") throw new Error("no chunk");
 * ```
 * @module
 */
export { makeSessionUpdates, type SessionUpdates } from "./updates.ts";
export { type EditorVoice, type HostSession, serveAcp, type SessionHost } from "./agent.ts";
