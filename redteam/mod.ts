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
export { type Dojo, type DojoPair, type DojoRun, openDojo } from "./import_agentdojo.ts";
export { INJECAGENT_FILES, injecAgentSuite } from "./import_injecagent.ts";
export { type Oracle, ORACLES, play, type Run, type RunOutcome } from "./play.ts";
export { setStage, type Stage } from "./stage.ts";
export { pageOf, plotOf, reportOf, type Score } from "./report.ts";
export { ownSuite } from "./own_suite.ts";
export { parseSuite, type Suite } from "./suite.ts";
export { type Variant, VARIANTS } from "./variants.ts";
export type { Finished, RedteamPowers, Surroundings, Workshop } from "./workshop_powers.ts";
