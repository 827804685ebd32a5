/** 200 kills at random moments. `deno task test:fault` makes 1,000. */
import assert from "node:assert/strict";
import { killAtRandom } from "./random_kills.ts";

Deno.test("nothing that carol was told is lost in 200 kills of the kernel at random moments", async () => {
  const seed = Number(Deno.env.get("REMIT_FAULT_SEED") ?? Date.now() % 1_000_000);
  const count = Number(Deno.env.get("REMIT_FAULT_KILLS") ?? 200);
  const kills = await killAtRandom({ count, lanes: 2, seed }).catch((error: unknown) => {
    throw new Error(`with REMIT_FAULT_SEED=${seed}`, { cause: error });
  });
  assert.ok(kills.kills >= count);
  assert.ok(kills.working > count / 4, `most kills must hit work: ${JSON.stringify(kills)}`);
});
