/**
 * Models, messages, tokens and the settings of weights.
 *
 * @example
 * ```ts
 * import { estimateTokens } from "./mod.ts";
 * if (estimateTokens([]) !== 0) throw new Error("nothing has tokens");
 * ```
 * @module
 */
export * from "./model.ts";
export * from "./model_aux.ts";
export * from "./model_clearance.ts";
export * from "./model_config.ts";
export * from "./chat.ts";
export * from "./tokens.ts";
export * from "./result_message.ts";
