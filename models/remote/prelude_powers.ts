/** First import of the remote service's main: the children's prelude, with Headers left. @module */
import { keptHeaders } from "./kept_powers.ts";
import "../../port/prelude_powers.ts";

Object.defineProperty(globalThis, "Headers", {
  value: keptHeaders,
  configurable: true,
  writable: true,
});
