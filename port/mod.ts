/**
 * Both ends of a line session between two processes, and JSON with one encoding.
 *
 * @example
 * ```ts
 * import { canonicalJson, type Json, makePort, parseJson, type Port } from "./mod.ts";
 * const handler = { ask: (_op: string, body: Json) => body, tell() {} };
 * const here: Port = makePort({ write: (bytes) => there.feed(bytes), handler });
 * const there: Port = makePort({ write: (bytes) => here.feed(bytes), handler });
 * canonicalJson(await here.ask("echo", parseJson('{"b": 1, "a": 2}'))); // {"a":2,"b":1}
 * ```
 * @module
 */
import type { Json } from "../contracts/base/json.ts";
import type { Port } from "../contracts/base/port.ts";
export type { Json, Port };
export { canonicalJson } from "./canonical.ts";
export { deepFreeze } from "./parse.ts";
export { parseJson } from "./parse.ts";
export { makePort } from "./port.ts";
