/**
 * Serves Remit over MCP: gated tools, wiki and prompts for any host, over a {@link HostSession} that
 * does the work. This code has no right of its own.
 *
 * @example
 * ```ts
 * import { resultOf } from "./mod.ts";
 * const refused = resultOf({ outcome: "refusedByPolicy", content: "", error: "Cannot", colour: "RED", label: "public", task: "t1" });
 * if (refused.isError !== true) throw new Error("a refusal is an error");
 * ```
 * @module
 */
export { makeRounds } from "./consent.ts";
export { makeMcpHttp } from "./http.ts";
export { resultOf } from "./tool_handlers.ts";
export { makeMcpServer } from "./server.ts";
export { serveOverStdio } from "./stdio.ts";
