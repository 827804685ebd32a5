/**
 * The broker: policy, gate, questions and their answers, tokens. Nothing acts except through its gate.
 *
 * @example
 * ```ts
 * import { NO_POLICY } from "../contracts/policy/mod.ts";
 * import { makePolicy } from "./mod.ts";
 * const { mode } = makePolicy(NO_POLICY).decide({
 *   profile: "operator", phase: "work", tool: "http_fetch", category: "network",
 *   effect: "outboundRead", paths: [],
 * });
 * if (mode !== "forbidden") throw new Error("the network is open");
 * ```
 * @module
 */
export { isSignedBy } from "./answer_check.ts";
export { makeGate, type TaskGate } from "./gate/gate.ts";
export { makeRuleGuard } from "./guard.ts";
export { descriptorDigest, makePins, type Pins } from "./guards.ts";
export { whyModelRefused } from "./model_policy.ts";
export { makePlans, type Plans } from "./plans.ts";
export { makePolicy } from "./policy.ts";
export { makeProvenance } from "./provenance/origins.ts";
export { openQuestions } from "./questions.ts";
export { makeSanitizer } from "./sanitize.ts";
export { redact } from "./credentials.ts";
export { makeRedeem, makeTokens } from "./tokens.ts";
export { makeMisfits } from "./validators.ts";
