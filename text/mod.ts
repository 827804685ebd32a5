/**
 * Makes untrusted text safe to show: the only way to a terminal, a page or a log line for text that Remit did not
 * write itself.
 *
 * @example
 * ```ts
 * import { displayBlock, displayText } from "./mod.ts";
 * displayText("\u{1b}[2J"); // \u{1b}[2J
 * displayBlock("one\ntwo", { prefix: "> " }); // ["> one", "> two"]
 * ```
 * @module
 */
export { displayBlock, displayText } from "./display.ts";
