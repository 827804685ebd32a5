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
export { bindImported, CALL_MS } from "./bind.ts";
export { importedDescriptor, interfaceOf } from "./descriptor.ts";
export type { CarriedLabel, KeptBytes, McpAsking, McpBindParts } from "./parts.ts";
