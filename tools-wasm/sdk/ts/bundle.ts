/**
 * Makes one script of a plugin's `tool.ts`.
 *
 * @example
 * ```ts
 * import { bundleScript } from "./bundle.ts";
 * const script = await bundleScript(new URL("../../json", import.meta.url).pathname);
 * ```
 * @module
 */
export { bundleScript } from "./_bundle_powers.ts";
