/** First import of the parser's main: the children's prelude, with Blob left to the mail library. @module */
import { kept } from "./kept_powers.ts";
import "../../port/prelude_powers.ts";

// As it was, a getter: reading it here would load what only mail needs.
if (kept !== undefined) Object.defineProperty(globalThis, "Blob", kept);
