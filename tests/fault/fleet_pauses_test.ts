import assert from "node:assert/strict";
import { pauseAtRandom } from "./fleet_pauses.ts";

Deno.test("kernels of a fleet that are paused, cut off and killed lose nothing and do nothing twice", async () => {
  const { rounds, moved } = await pauseAtRandom({ count: 6, seed: 20_261_127 });
  assert.equal(rounds, 6);
  assert.ok(moved > 0, "a task was taken over");
});
