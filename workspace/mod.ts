/**
 * The workspace of a task: mounts, staging, scratch, outbox and patch sets, as tools for the gate.
 * The kernel's side has no file authority; files are touched by the program in host/.
 * Seed 001, Workspace Model; DESIGN section 6.
 *
 * @example
 * ```ts
 * import { parsePath } from "./mod.ts";
 * parsePath("desk/notes/today.md").mount; // "desk"
 * ```
 * @module
 */
export { type ToolEntry, WORKSPACE_TOOLS } from "./descriptors.ts";
export type { HostCallOptions, HostLink } from "./host_link.ts";
export { AppliedPatch, type Recorded, type Restored, WorkspaceRecord } from "./ledger.ts";
export { patchDigest, patchOf, reverseOf } from "./patch.ts";
export { type NamedPath, parsePath, SCRATCH } from "./path.ts";
export type { UndoCall, Undone } from "./undo.ts";
export {
  ARTIFACT_TTL,
  type Look,
  makeWorkspace,
  type Workspace,
  type WorkspaceParts,
} from "./workspace.ts";
