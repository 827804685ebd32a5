/**
 * Dialects parse calls and thoughts that models write into their text. Off by default: a model's text is
 * text. Pure code, for every backend.
 *
 * @example
 * ```ts
 * import { makeDialect } from "./mod.ts";
 * const dialect = makeDialect(["think", "hermes"], new Set(["clock"]));
 * const outs = [
 *   ...dialect.text("<think>The time?</th"),
 *   ...dialect.text('ink>Let me look.<tool_call>{"name":"clock"}</tool_call>'),
 *   ...dialect.end(),
 * ];
 * if (outs.length !== 3) throw new Error("a thought, a text and a call");
 * ```
 * @module
 */
export { makeDialect, partAtEnd } from "./dialect.ts";
export type { Out } from "./out.ts";
export { type CallDialect, callDialect, callText, resultText, toolsPrompt } from "./prompt.ts";
