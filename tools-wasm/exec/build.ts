/**
 * Builds the engine: QuickJS, the glue and the prelude as one Extism module, which is an image of an instance in which
 * all of them have begun already.
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
