/** A child for tests and benches: answers with the body; evaluates and has a bug on request. @module */
import type { Json } from "../../contracts/base/json.ts";
import "../prelude_powers.ts";
import { serveChild } from "../child_powers.ts";

await serveChild(() => ({
  ask(op: string, body: Json): Json {
    if (op === "bug") throw new TypeError("a bug");
    // What a program that is loaded later finds: indirect eval sees globals only.
    if (op === "eval") return (0, eval)(String(body));
    return body;
  },
  tell(): void {},
}));
