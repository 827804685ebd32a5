/**
 * The kernel's parts: processes, leases, children and the walls around them.
 *
 * @example
 * ```ts
 * import { makeProcessTable, onSignal } from "./mod.ts";
 * const processes = makeProcessTable({ now: () => 0 });
 * onSignal("running", "SIGSTOP").next; // "stopped"
 * processes.list(); // []
 * ```
 * @module
 */
export type { Child } from "./child.ts";
export { type Children, type ChildrenParts, type HostOptions, makeChildren } from "./children.ts";
export { type Deadline, makeDeadline } from "./deadline.ts";
export { type ChildRequest, type ChildRights, deriveChild } from "./derive_child.ts";
export { type LeaseGrant, type LeaseTable, openLeases } from "./leases.ts";
export type { Judge, Verdict } from "./permission_line.ts";
export {
  type ChildProcess,
  makeProcessTable,
  type NewProcess,
  type ProcessTable,
} from "./process_table.ts";
export {
  contextPresses,
  onBrakeAnswer,
  onSignal,
  type Payment,
  recent,
  type SignalAction,
  type SignalState,
  type SignalStep,
  spendsTooFast,
} from "./signals.ts";
export type { ExitStatus, OsProcess, SpawnPowers } from "./spawn.ts";
export type { Roots } from "./start_line.ts";
export {
  makeToolhosts,
  type TaskFolders,
  type Toolhosts,
  type ToolhostsParts,
} from "./toolhosts.ts";
export type { Walls } from "./walls.ts";
