/**
 * Builds the tools: every plugin folder of tools-wasm/ becomes a module or a script, once for each
 * digest of its sources. Compilers run in a separate process, only when something must be built.
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
