/**
 * Swarms: a plan of issues, workers with separate trees, checks, reviews, and a merge queue over a git mirror.
 *
 * @example
 * ```ts
 * import { parsePlan } from "./mod.ts";
 * const plan = parsePlan("version: 1\nissues: [{ id: a, title: Greet }]\n", "swarm.yaml");
 * if (plan.author !== "coder") throw new Error();
 * ```
 * @module
 */
export { makeCheck } from "./checks.ts";
export { SwarmEvent } from "./events.ts";
export { liveOf, readState, spentOf, type SwarmState, takeEvent } from "./journal.ts";
export { makeMirror, type Mirror } from "./mirror.ts";
export { parsePlan, planOf, type SwarmPlan } from "./plan.ts";
export { findBase } from "./repository.ts";
export { runScheduler } from "./scheduler.ts";
export { type StagedFile } from "./patch.ts";
export { type SwarmTasks, type TaskAsk, type TaskEnd } from "./workers.ts";
export { type Journal, type SwarmPowers, type SwarmWalls } from "./swarm_powers.ts";
export { plotLines, trackRecord } from "./track_record.ts";
