/**
 * Bundles a plugin's `tool.ts` into one script.
 *
 * @example
 * ```ts
 * import { bundleScript } from "./bundle.ts";
 * const script = await bundleScript(new URL("../../json", import.meta.url).pathname);
 * ```
 * @module
 */
export { bundleScript } from "./_bundle_powers.ts";
