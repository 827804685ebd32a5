/**
 * Tasks, their processes, events and budgets, and the interfaces of their store and host.
 *
 * @example
 * ```ts
 * import { EVENT_KINDS } from "./mod.ts";
 * if (new Set(EVENT_KINDS).size !== EVENT_KINDS.length) throw new Error("a kind stands twice");
 * ```
 * @module
 */
export * from "./task.ts";
export * from "./process.ts";
export * from "./event.ts";
export * from "./store.ts";
export * from "./budget.ts";
export * from "./spending.ts";
export * from "./hosting.ts";
export * from "./power.ts";
export * from "./control_answers.ts";
export * from "./signal.ts";
export * from "./resources.ts";
