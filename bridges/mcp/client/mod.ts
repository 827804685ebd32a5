/**
 * What a bridge to another protocol shares with the one to MCP servers: its end of the kernel's port, its calls and
 * their deadlines, its texts cut to size. None of it brings the SDK along.
 *
 * @example
 * ```ts
 * import { cutText } from "./mod.ts";
 * if (cutText("abcdef", 4) !== "abc…") throw new Error("it is cut to four characters");
 * ```
 * @module
 */
export { type Calls, makeCalls, OPENING } from "./calls.ts";
export type { Clock } from "./clock.ts";
export { cutText, quoted } from "./cut.ts";
export { makeEventTexts } from "./http/event_texts.ts";
export { fieldsOf, Malformed } from "./words/fields.ts";
export { makeKernelHttp } from "./http/kernel_http.ts";
export { type KernelSide, makeKernelSide } from "./kernel_side.ts";
export { makeOdd, type Odd } from "./violations.ts";
export { readAll } from "./http/read_all.ts";
