/** A child for tests and benches: answers with the body; evaluates code and throws a bug on request. @module */
import type { Json } from "../../contracts/base/json.ts";
import "../prelude_powers.ts";
import { serveChild } from "../child_powers.ts";

await serveChild(() => ({
  ask(op: string, body: Json): Json {
    if (op === "bug") throw new TypeError("a bug");
    // Names for a program that is loaded later: indirect eval sees only globals.
    if (op === "eval") return (0, eval)(String(body));
    return body;
  },
  tell(): void {},
}));
