/** First import of the parser's entry: the children's prelude, but Blob stays for the mail library. @module */
import { kept } from "./kept_powers.ts";
import "../../port/prelude_powers.ts";

// As a getter: reading the value would load code that only mail needs.
if (kept !== undefined) Object.defineProperty(globalThis, "Blob", kept);
