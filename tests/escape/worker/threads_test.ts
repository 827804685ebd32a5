import { gone } from "../../fake/siege.ts";
import { attack, workerOf } from "../_beside.ts";

Deno.test("mallory's threads would have gone on spinning after their process was told to stop", async () => {
  await attack(
    `for (let i = 0; i < 8; i++) try { new Worker("data:text/javascript,for(;;);", { type: "module" }); } catch {}
     for (;;) await new Promise((r) => setTimeout(r, 100));`,
    async ({ siege, mallory }) => {
      const os = await workerOf(siege, mallory);
      await siege.ask("cancel", { task: mallory.id });
      await gone(os);
    },
  );
});
