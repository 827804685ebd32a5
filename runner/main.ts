/** Entry of the worker process: no permissions, one port. Bundled as worker.js. @module */
import "../port/prelude_powers.ts";
import { serveChild } from "../port/child_powers.ts";
import { warm } from "./warm.ts";
import { makeWorker } from "./worker.ts";

// Only a pooled worker has time to warm up: for any other, a task already waits.
if (Deno.args[0] === "pooled") await warm();
await serveChild(makeWorker);
