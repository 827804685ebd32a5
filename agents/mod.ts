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
export * from "./deliveries.ts";
export * from "./ending.ts";
export * from "./exchange_artifact.ts";
export * from "./exchange_parts.ts";
export * from "./exchange_states.ts";
export * from "./exchange_words.ts";
export * from "./exchanges.ts";
export * from "./forks.ts";
export * from "./inbox.ts";
export * from "./inbox_changes.ts";
export * from "./inbox_draft.ts";
export * from "./inbox_frame.ts";
export * from "./mail.ts";
export * from "./mail_descriptors.ts";
export * from "./mail_tool.ts";
export * from "./names_store.ts";
export * from "./service.ts";
export * from "./task_events.ts";
export * from "./task_fold.ts";
export * from "./task_history.ts";
export * from "./task_keeper.ts";
export * from "./task_runs.ts";
