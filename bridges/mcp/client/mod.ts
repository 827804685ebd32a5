/**
 * What the bridge of another protocol shares with this one: the kernel's port, calls with deadlines,
 * cut texts, streams. Nothing here loads the MCP SDK.
 *
 * @example
 * ```ts
 * import { cutText } from "./mod.ts";
 * if (cutText("abcdef", 4) !== "abc…") throw new Error("it is cut to four characters");
 * ```
 * @module
 */
export { type Calls, type Clock, makeCalls, OPENING, pause } from "./calls.ts";
export { cutText, makeReport, quoted, type ReportViolation } from "./limits.ts";
export { makeEvents, readAll, type StreamEvent } from "./http/stream_texts.ts";
export { fieldsOf, Malformed } from "./listing/fields.ts";
export { type KernelSide, makeKernelHttp, makeKernelSide } from "./kernel_side.ts";
