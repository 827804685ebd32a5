/**
 * HostedAgentService: tasks from request to end.
 *
 * @example
 * ```ts
 * import { endingOf } from "./mod.ts";
 * const ending = endingOf({ stop: "answered", text: "Done." }, { kind: "nothing" }, {
 *   interactive: false,
 *   contaminated: false,
 * });
 * if (ending.status !== "done") throw new Error("expected done");
 * ```
 * @module
 */
export * from "./conversations.ts";
export * from "./ending.ts";
export * from "./forks.ts";
export * from "./service.ts";
export * from "./task_fold.ts";
export * from "./task_history.ts";
export * from "./task_keeper.ts";
export * from "./task_runs.ts";
