/**
 * Faults, JSON, ports and times: what needs no schema library.
 *
 * @example
 * ```ts
 * import { Fault } from "./mod.ts";
 * if (new Fault("refused", "Cannot read the file: no grant").code !== "refused") throw new Error("code lost");
 * ```
 * @module
 */
export * from "./fault.ts";
export * from "./fault_exit.ts";
export * from "./json.ts";
export * from "./moment.ts";
export * from "./loopback.ts";
export * from "./port.ts";
export * from "./built_program.ts";
