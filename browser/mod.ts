/**
 * The chromium engine of the browser tools, wired by the kernel's main: the manifest that replaces
 * the static engine's, and the screenshot. The process itself is browser/main.ts.
 *
 * @example
 * ```ts
 * import { SCREENSHOT } from "./mod.ts";
 * if (SCREENSHOT !== "browser_screenshot") throw new Error("policy names it so");
 * ```
 * @module
 */
export { SCREENSHOT, screenshotBinding } from "./binding.ts";
export { chromiumManifest } from "./manifest.ts";
