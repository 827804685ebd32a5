/** The worker process: zero permissions, one port, one agent program. Bundled as worker.js. @module */
import "../port/prelude_powers.ts";
import { serveChild } from "../port/child_powers.ts";
import { warm } from "./warm.ts";
import { makeWorker } from "./worker.ts";

await warm();
await serveChild(makeWorker);
