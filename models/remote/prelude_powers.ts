/** First import of the remote service's entry: the children's prelude, but Headers stays. @module */
import { keptHeaders } from "./kept_powers.ts";
import "../../port/prelude_powers.ts";

Object.defineProperty(globalThis, "Headers", {
  value: keptHeaders,
  configurable: true,
  writable: true,
});
