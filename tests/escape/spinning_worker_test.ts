import assert from "node:assert/strict";
import { gone } from "../fake/siege.ts";
import { attack } from "./_beside.ts";

Deno.test("mallory's spinning worker would have gone on burning a core after its task was over", async () => {
  await attack(`for (;;);`, async ({ siege, mallory }) => {
    const rows = await siege.ask("ps", null) as { task: string; os: number[] }[];
    const os = rows.find(({ task }) => task === mallory.id)?.os ?? [];
    assert.equal(os.length, 1);
    await siege.ask("cancel", { task: mallory.id });
    await gone(os);
    assert.equal((await mallory.end).status, "cancelled");
  });
});
