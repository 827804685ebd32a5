/**
 * People of a world: rooms, memory, plans, reflection. An application over ordinary tasks: the
 * caller passes in the power to run one step. docs/world.md.
 *
 * @example
 * ```ts
 * import { beginWorld, parseWorld } from "./mod.ts";
 * const text = "{ world: w, about: a, rooms: [{ name: r, about: b }], people: [{ name: p, persona: q, home: r }] }";
 * if (beginWorld(parseWorld(text, "w.yaml")).people["p"]?.room !== "r") throw new Error();
 * ```
 * @module
 */
export { happeningLine, personLines, reportLines, reportOf } from "./report.ts";
export { reviewReflection } from "./review.ts";
export { runWorld, type WorldEnd } from "./run_world.ts";
export { beginWorld, type Happening, parseState, type WorldState, writeState } from "./state.ts";
export { type Answered, type Step } from "./step.ts";
export { parseWorld, type World } from "./world_file.ts";
