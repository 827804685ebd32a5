/**
 * Background work of a service: figures as OpenMetrics text, traces for an OpenTelemetry collector,
 * retention.
 *
 * @example
 * ```ts
 * import { readTraceparent } from "./mod.ts";
 * if (readTraceparent("no trace") !== undefined) throw new Error("that is no trace");
 * ```
 * @module
 */
export { startStateCare, sweepRetention } from "./care.ts";
export { type HookCounts, makeDurations, type PushCounts } from "./metrics.ts";
export { readTraceparent, type TraceLink } from "./traces.ts";
