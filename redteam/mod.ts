/**
 * The red team and the evaluations: suites as data, a compromised scripted model, oracles, reports.
 *
 * @example
 * ```ts
 * import { reportOf } from "./mod.ts";
 * if (reportOf([]).attacks !== 0) throw new Error();
 * ```
 * @module
 */
export { injecAgentSuite } from "./import_injecagent.ts";
export { type Came, type Oracle, ORACLES, setStage } from "./play.ts";
export { pageOf, plotOf, reportOf, type Score } from "./report.ts";
export { ownSuite } from "./own_suite.ts";
export { parseSuite, type Suite } from "./suite.ts";
export { type Variant, VARIANTS } from "./variants.ts";
export { type RedteamHands, type Workshop } from "./workshop_powers.ts";
