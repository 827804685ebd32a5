/** 10 and 200 kills at random moments; `deno task test:fault` makes 1,000. */
import assert from "node:assert/strict";
import { killAtRandom } from "./random_kills.ts";

async function kill(count: number, lanes: number): Promise<void> {
  const seed = Number(Deno.env.get("REMIT_SEED") ?? Date.now() % 1_000_000);
  const kills = await killAtRandom({ count, lanes, seed }).catch((error: unknown) => {
    throw new Error(`with REMIT_SEED=${seed}`, { cause: error });
  });
  assert.ok(kills.kills >= count);
  assert.ok(kills.working > count / 4, `most kills must hit work: ${JSON.stringify(kills)}`);
}

Deno.test("nothing that carol was told is lost in 10 kills of the kernel at random moments", async () => {
  await kill(10, 1);
});

Deno.test("nothing that carol was told is lost in many kills of the kernel at random moments (long)", async () => {
  await kill(Number(Deno.env.get("REMIT_FAULT_KILLS") ?? 200), 2);
});
