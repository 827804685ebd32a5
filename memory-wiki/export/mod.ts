/**
 * Exports the wiki as a static site that works offline and loads nothing.
 *
 * @example
 * ```ts
 * import { exportSite, reportOf } from "./mod.ts";
 * import { makeTwin } from "../lint/_fixture/twin.ts";
 * const files = [...exportSite(makeTwin(), { clearance: "public", now: 0 })];
 * if (reportOf(files.at(-1)?.text ?? "").pages !== 0) throw new Error("an empty wiki has no pages");
 * ```
 * @module
 */

export { ExportManifest, reportOf } from "./site.ts";
export { exportSite } from "./site.ts";
