import assert from "node:assert/strict";
import { gone } from "../fake/siege.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { attack } from "./_beside.ts";

Deno.test("mallory's spinning worker would have gone on burning a core after its task was over", async () => {
  await attack(`for (;;);`, async ({ siege, mallory }) => {
    // Bob may have been done before mallory's worker began.
    const os = await waitUntil("mallory's worker", async () => {
      const rows = await siege.ask("ps", null) as { task: string; os: number[] }[];
      const found = rows.find(({ task }) => task === mallory.id)?.os ?? [];
      return found.length === 0 ? undefined : found;
    });
    assert.equal(os.length, 1);
    await siege.ask("cancel", { task: mallory.id });
    await gone(os);
    assert.equal((await mallory.end).status, "cancelled");
  });
});
