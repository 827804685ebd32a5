/**
 * The plugin host's load gate, for code that checks a module before it is loaded. The host itself
 * is a separate process: `main.ts`.
 *
 * @example
 * ```ts
 * import { gateFindings, readShape } from "./mod.ts";
 * const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
 * const findings = gateFindings(readShape(empty), { memoryPages: 256, exports: ["run"] });
 * if (findings.length === 0) throw new Error("a module without anything passes");
 * ```
 * @module
 */
export { gateFindings } from "./load_gate.ts";
export { readShape } from "./module_shape.ts";
