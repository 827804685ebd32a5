/**
 * Tools of imported MCP servers as the gate knows them: bound to a task over whatever asks the server.
 *
 * @example
 * ```ts
 * import { interfaceOf } from "./mod.ts";
 * import { McpServerName } from "../../../contracts/mod.ts";
 * if (interfaceOf({ name: McpServerName.parse("files") }) !== "mcp:files") throw new Error("rules name it so");
 * ```
 * @module
 */
export { bindBound, bindImported, type Bound, CALL_MS, reviewed } from "./bind.ts";
export { described, interfaceOf, type McpBindParts } from "./descriptor.ts";
