/**
 * The wiki's lint: typed findings with place and remedy, and patches for those that rules can fix.
 *
 * @example
 * ```ts
 * import { lintWiki } from "./mod.ts";
 * import { makeTwin } from "./_fixture/twin.ts";
 * const store = makeTwin();
 * const findings = await lintWiki(store, { clearance: "internal", now: 0 });
 * if (findings.length > 0) throw new Error("an empty wiki has nothing wrong");
 * ```
 * @module
 */

export { fixFindings } from "./fix.ts";
export { makeJudgedPairs } from "./like_claims.ts";
export { lintWiki } from "./lint_wiki.ts";
