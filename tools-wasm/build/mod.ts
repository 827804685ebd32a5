/**
 * The builder of tools: every plugin folder of tools-wasm/ becomes a module or a script, once for a digest of
 * its sources. Nothing here loads a compiler; a process of its own does, when something must be built.
 *
 * @example
 * ```ts
 * import { provideTools } from "./mod.ts";
 * async function toolNames(home: string, cache: string): Promise<readonly string[]> {
 *   const { plugins } = await provideTools({ home, cache, onBuild: () => {} });
 *   return plugins.flatMap(({ manifest }) => manifest.tools.map(({ name }) => name));
 * }
 * ```
 * @module
 */
export type { BuiltTools } from "./built_tools.ts";
export { provideTools, runBuild } from "./provide_tools_powers.ts";
export { parseToolYaml } from "./tool_yaml.ts";
