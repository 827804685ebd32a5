/**
 * The load gate of the plugin host, for whoever looks at a module before it is loaded. The host itself
 * is a process of its own: `main.ts`.
 *
 * @example
 * ```ts
 * import { gateFindings, type ModuleShape, readShape } from "./mod.ts";
 * const shape: ModuleShape = readShape(Deno.readFileSync("plugin.wasm"));
 * const findings = gateFindings(shape, { memoryPages: 256, exports: ["run"] });
 * if (findings.length > 0) throw new Error(`Cannot load it: ${findings.join(", ")}`);
 * ```
 * @module
 */
export { ALLOWED_IMPORTS } from "./allowed_imports.ts";
export { MODULE_BYTES, TABLE_ELEMENTS } from "./bounds.ts";
export { gateFindings, type GateRule, passGate } from "./load_gate.ts";
export {
  type Limits,
  type ModuleExport,
  type ModuleImport,
  type ModuleShape,
  readShape,
} from "./module_shape.ts";
