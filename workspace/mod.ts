/**
 * The workspace of a task: mounts, staging, scratch, outbox and patch sets, as tools for the gate.
 * The kernel's side has no file authority; the program in host/ touches files.
 *
 * @example
 * ```ts
 * import { parsePath } from "./mod.ts";
 * parsePath("desk/notes/today.md").mount; // "desk"
 * ```
 * @module
 */
export { WORKSPACE_TOOLS } from "./descriptors.ts";
export { WorkspaceRecord } from "./ledger.ts";
export { parsePath } from "./path.ts";
export { makeWorkspace, type Workspace } from "./workspace.ts";
