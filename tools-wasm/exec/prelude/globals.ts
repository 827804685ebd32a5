/** Globals that programs and libraries expect, and those that they must not have. @module */
import { put } from "./primordials.ts";
import { addStructuredClone } from "./structured_clone.ts";
import { addTextCodec, type Utf8 } from "./text_codec.ts";

/** Removes and adds what differs from plain QuickJS. */
export function tidyGlobals(target: object, utf8: Utf8): void {
  // It would hand the functions on the stack, ours among them, to whoever sets it.
  Object.defineProperty(Error, "prepareStackTrace", {
    value: undefined,
    writable: false,
    configurable: false,
  });
  addTextCodec(target, utf8);
  addStructuredClone(target);
  put(target, "self", target);
}
