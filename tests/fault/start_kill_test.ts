/** 4 and 100 kills at random moments of starts; `deno task test:fault` makes 1,000. */
import { needs } from "../needs.ts";
import { nothingIsLeft } from "./start_kills.ts";

Deno.test("no process is left of 4 kernels that were killed while they started programs", async () => {
  if (needs("bwrap") && needs("prlimit")) await nothingIsLeft(4);
});

Deno.test("no process is left of many kernels that were killed while they started programs (long)", async () => {
  if (needs("bwrap") && needs("prlimit")) await nothingIsLeft(100);
});
