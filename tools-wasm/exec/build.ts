/**
 * Builds the engine: QuickJS, the glue and the prelude as one Extism module. The module is a memory
 * image of an instance in which all three have started.
 *
 * @example
 * ```ts
 * import { buildEngine } from "./build.ts";
 * const bytes = await buildEngine();
 * if (!WebAssembly.validate(bytes)) throw new Error("the engine is a module");
 * ```
 * @module
 */
export { buildEngine } from "./_build_powers.ts";
