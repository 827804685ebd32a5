/** The worker process: zero permissions, one port, one agent program. Bundled as worker.js. @module */
import "../port/prelude_powers.ts";
import { serveChild } from "../port/child_powers.ts";
import { warm } from "./warm.ts";
import { makeWorker } from "./worker.ts";

// Only a worker that waits in the pool has the time: somebody already waits for the others.
if (Deno.args[0] === "pooled") await warm();
await serveChild(makeWorker);
