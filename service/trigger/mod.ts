/**
 * Starts tasks without a person: deliveries to webhooks, and schedules. Each firing makes exactly
 * one task.
 *
 * @example
 * ```ts
 * import { readCron } from "./mod.ts";
 * const { next } = readCron({ cron: "0 6 * * *" }, "a schedule");
 * if (next(0) !== 6 * 3_600_000) throw new Error("not at six");
 * ```
 * @module
 */
export { signHook } from "./delivery.ts";
export { openFiringBook, scheduleIngress } from "./firing.ts";
export { hookPath } from "./hooks.ts";
export { readCron } from "./schedules.ts";
export { openTriggers, type TriggerRules } from "./triggers.ts";
