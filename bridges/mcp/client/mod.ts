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
export { type Calls, type Clock, makeCalls, OPENING } from "./calls.ts";
export { cutText, makeReport, quoted, type ReportViolation } from "./limits.ts";
export { makeEvents, readAll, type StreamEvent } from "./http/stream_texts.ts";
export { fieldsOf, Malformed } from "./words/fields.ts";
export { type KernelSide, makeKernelHttp, makeKernelSide } from "./kernel_side.ts";
