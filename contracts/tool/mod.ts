/**
 * Tools, plugins, granted commands and the workspace.
 *
 * @example
 * ```ts
 * import { ToolDescriptor } from "./mod.ts";
 * if (ToolDescriptor.safeParse({}).success) throw new Error("an empty descriptor passes");
 * ```
 * @module
 */
export * from "./tool.ts";
export * from "./command.ts";
export * from "./foreign_agent.ts";
export * from "./plugin.ts";
export * from "./workspace.ts";
export * from "./process_session.ts";
