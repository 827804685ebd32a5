/** A child for tests and benches: answers `echo` with the body. @module */
import type { Json } from "../../contracts/json.ts";
import "../prelude_powers.ts";
import { serveChild } from "../child_powers.ts";

await serveChild(() => ({
  ask(op: string, body: Json): Json {
    if (op === "bug") throw new TypeError("a bug");
    return body;
  },
  tell(): void {},
}));
