/**
 * The broker: policy, gate, questions and their answers, tokens. Nothing acts but through its gate.
 *
 * @example
 * ```ts
 * import { NO_POLICY } from "../contracts/mod.ts";
 * import { makePolicy } from "./mod.ts";
 * const { mode } = makePolicy(NO_POLICY).decide({
 *   profile: "operator", phase: "work", tool: "http_fetch", category: "network",
 *   effect: "outboundRead", paths: [],
 * });
 * if (mode !== "forbidden") throw new Error("the network is open");
 * ```
 * @module
 */
export { type AnswerKeys, signedBytes } from "./answer_check.ts";
export type { Ruling } from "./defaults.ts";
export { type GateParts, makeGate, type TaskGate } from "./gate.ts";
export { type Grant, type Grants } from "./grants.ts";
export { type AfterGuard, type BeforeGuard, BUILT_IN_GUARDS, type Guards } from "./guards.ts";
export { makeRuleGuard } from "./guard.ts";
export { descriptorDigest, makePins, type Pins } from "./pins.ts";
export {
  type JudgeModel,
  makeModelPolicy,
  type ModelRuling,
  whyModelRefused,
} from "./model_policy.ts";
export { makePolicy, type Policy } from "./policy.ts";
export {
  openQuestions,
  QUESTION_TTL_MS,
  type QuestionBook,
  type QuestionParts,
} from "./questions.ts";
export { redact } from "./redact.ts";
export type { Subject } from "./rules.ts";
export {
  argumentsHash,
  makeRedeem,
  makeTokens,
  type TokenBinding,
  type TokenGrant,
  type Tokens,
} from "./tokens.ts";
export { makeMisfits } from "./validators.ts";
