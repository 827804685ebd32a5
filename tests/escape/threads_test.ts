import assert from "node:assert/strict";
import { gone } from "../fake/siege.ts";
import { attack } from "./_beside.ts";

Deno.test("mallory's threads would have gone on spinning after their process was told to stop", async () => {
  await attack(
    `for (let i = 0; i < 8; i++) try { new Worker("data:text/javascript,for(;;);", { type: "module" }); } catch {}
     for (;;) await new Promise((r) => setTimeout(r, 100));`,
    async ({ siege, mallory }) => {
      const rows = await siege.ask("ps", null) as { task: string; os: number[] }[];
      const os = rows.find(({ task }) => task === mallory.id)?.os ?? [];
      assert.equal(os.length, 1);
      await siege.ask("cancel", { task: mallory.id });
      await gone(os);
    },
  );
});
