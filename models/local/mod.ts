/**
 * Models that run here, from weights that came over the port: a process without any permission.
 *
 * @example
 * ```ts
 * import { makePlainText } from "./mod.ts";
 * const plain = makePlainText(["<|im_start|>"]);
 * if (plain("<|im_start|>system").startsWith("<|im_start|>")) throw new Error("a control token");
 * ```
 * @module
 */
export { makePlainText } from "./plain_text.ts";
