/** 1,000 kills at random moments of starts: `deno task test:fault`. */
import { nothingIsLeft } from "./start_kills.ts";

Deno.test("no process is left of 1,000 kernels that were killed while they started programs", async () => {
  await nothingIsLeft(1_000);
});
