/** The process that checks servers' trees: it reads them, and nothing else. Its argument is the folder that they lie in. @module */
import "../../../port/prelude_powers.ts";
import { serveChild } from "../../../port/child_powers.ts";
import { makeTreeService } from "./check.ts";
import { TREE_DISK } from "./tree_disk_powers.ts";

await serveChild(() => makeTreeService(TREE_DISK, Deno.args[0] ?? "/nowhere"));
