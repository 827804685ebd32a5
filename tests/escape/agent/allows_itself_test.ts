/** An agent of others asks for permission and answers itself: mallory's change would be applied without alice. */
import assert from "node:assert/strict";
import { EXIT } from "../../../contracts/base/mod.ts";
import { addForeign, handOver, startProvider } from "../../fake/foreign_agent.ts";
import { onMachine } from "../../fake/remit.ts";
import { alicesPlans } from "../../fake/scenes.ts";

Deno.test("an agent of others that allows itself everything still waits for alice before her folder changes", async () => {
  await using provider = startProvider();
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await addForeign(machine, provider);
    const run = await handOver(machine, [
      "permission Apply everything at once",
      "write trip.txt mallory was here",
    ]);
    assert.equal(run.code, EXIT.waiting, run.output);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
  });
});
