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
export { makeProcessTable } from "./process/table.ts";
export { onSignal } from "./process/signals.ts";
