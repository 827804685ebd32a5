/** Adds globals that programs and libraries expect, and removes dangerous ones. @module */
import { put } from "./primordials.ts";
import { addStructuredClone } from "./structured_clone.ts";
import { addTextCodec, type Utf8 } from "./text_codec.ts";

/** Removes and adds the differences from plain QuickJS. */
export function tidyGlobals(target: object, utf8: Utf8): void {
  // A program could set it to receive the functions on the stack, the prelude's among them.
  Object.defineProperty(Error, "prepareStackTrace", {
    value: undefined,
    writable: false,
    configurable: false,
  });
  addTextCodec(target, utf8);
  addStructuredClone(target);
  put(target, "self", target);
}
