/** The entry of the process that checks servers' trees; its argument is the folder of all trees. @module */
import "../../../port/prelude_powers.ts";
import { serveChild } from "../../../port/child_powers.ts";
import { makeTreeService } from "./check.ts";
import { TREE_DISK } from "./tree_disk_powers.ts";

await serveChild(() => makeTreeService(TREE_DISK, Deno.args[0] ?? "/nowhere"));
