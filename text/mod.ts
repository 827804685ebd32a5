/**
 * Untrusted text made safe to show: the only way to a terminal, a page or a log line for anything
 * that Remit did not write itself.
 *
 * @example
 * ```ts
 * import { displayBlock, displayText, width } from "./mod.ts";
 * displayText("\u{1b}[2J"); // \u{1b}[2J
 * displayBlock("one\ntwo", { prefix: "> " }); // ["> one", "> two"]
 * width("ab漢"); // 4
 * ```
 * @module
 */
export { type BlockOptions, displayBlock, displayText, type TextOptions } from "./display.ts";
export { cut, width } from "./width.ts";
