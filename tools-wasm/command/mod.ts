/**
 * The tool `command`: sandboxed programs, and programs of this machine that the operator granted,
 * behind one name; and the tools `process_…` over programs that outlive a call.
 *
 * @example
 * ```ts
 * import { SANDBOX_PROGRAMS } from "./mod.ts";
 * SANDBOX_PROGRAMS.includes("grep"); // true
 * ```
 * @module
 */
export { bindCommand, SANDBOX_PROGRAMS } from "./binding.ts";
export { commandDescriptor } from "./descriptor.ts";
export { bindProcesses } from "./process_binding.ts";
export {
  PROCESS_TOOL_NAMES,
  PROCESS_VERBS,
  processDescriptor,
  processDescriptors,
} from "./process_descriptors.ts";
