/**
 * The interpreter of planned programs, for a process without any permission. docs/planned_programs.md.
 *
 * @example
 * ```ts
 * import { runProgram } from "./mod.ts";
 * const said: string[] = [];
 * const hello = { s: "say", value: { k: "literal", value: "hello" } } as const;
 * await runProgram({ functions: [{ id: 0, within: 0, params: [], body: [hello] }] }, {
 *   call: () => Promise.reject(new Error("it calls nothing")),
 *   say: (text) => void said.push(text),
 * });
 * if (said[0] !== "hello") throw new Error("it greets");
 * ```
 * @module
 */
export { type PlanHost, runProgram } from "./interpreter.ts";
export { Stopped } from "./values.ts";
