import assert from "node:assert/strict";
import { gone } from "../../fake/siege.ts";
import { attack, workerOf } from "../_beside.ts";

Deno.test("mallory's spinning worker would have gone on burning a core after its task was over", async () => {
  await attack(`for (;;);`, async ({ siege, mallory }) => {
    const os = await workerOf(siege, mallory);
    await siege.ask("cancel", { task: mallory.id });
    await gone(os);
    assert.equal((await mallory.end).status, "cancelled");
  });
});
