/**
 * Remit as an MCP server: its gated tools, its wiki, its prompts, for any host. Over what does the work (a
 * {@link HostSession}) and without any right of its own.
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
