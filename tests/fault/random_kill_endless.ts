/** 1,000 kills at random moments: `deno task test:fault`. */
import assert from "node:assert/strict";
import { killAtRandom } from "./random_kills.ts";

Deno.test("nothing that carol was told is lost in 1,000 kills of the kernel at random moments", async () => {
  const seed = Number(Deno.env.get("REMIT_SEED") ?? Date.now() % 1_000_000);
  const kills = await killAtRandom({ count: 1_000, lanes: 2, seed }).catch((error: unknown) => {
    throw new Error(`with REMIT_SEED=${seed}`, { cause: error });
  });
  assert.ok(kills.kills >= 1_000);
  assert.ok(kills.working > 250, `most kills must hit work: ${JSON.stringify(kills)}`);
});
