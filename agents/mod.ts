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
export * from "./inbox/deliveries.ts";
export * from "./task/ending.ts";
export * from "./exchange/artifact.ts";
export * from "./exchange/parts.ts";
export * from "./exchange/states.ts";
export * from "./exchange/words.ts";
export * from "./exchange/exchanges.ts";
export * from "./forks.ts";
export * from "./inbox/inbox.ts";
export * from "./inbox/changes.ts";
export * from "./inbox/draft.ts";
export * from "./inbox/frame.ts";
export { taskOfBox } from "./inbox/judge.ts";
export * from "./mail/mail.ts";
export * from "./mail/descriptors.ts";
export * from "./mail/tool.ts";
export * from "./mail/names_store.ts";
export * from "./service.ts";
export * from "./task/events.ts";
export * from "./task/fold.ts";
export * from "./task/history.ts";
export * from "./task/keeper.ts";
export * from "./task/runs.ts";
