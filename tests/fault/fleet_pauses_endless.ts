/** 200 rounds over kernels of a fleet: `deno task test:fault`. */
import assert from "node:assert/strict";
import { pauseAtRandom } from "./fleet_pauses.ts";

Deno.test("kernels of a fleet that are paused, cut off and killed 200 times lose nothing", async () => {
  const seed = Number(Deno.env.get("REMIT_SEED") ?? Date.now() % 1_000_000);
  const { rounds } = await pauseAtRandom({ count: 200, seed }).catch((error: unknown) => {
    throw new Error(`with REMIT_SEED=${seed}`, { cause: error });
  });
  assert.equal(rounds, 200);
});
