/** A child for tests and benches: answers `echo` with the body. @module */
import "../prelude_powers.ts";
import { serveChild } from "../child_powers.ts";

await serveChild(() => ({ ask: (_op, body) => body, tell() {} }));
