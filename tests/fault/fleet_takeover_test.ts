/** A kernel of a fleet is killed half-way: another goes on with its task, once its lease has run out. */
import assert from "node:assert/strict";
import { AgentTask } from "../../contracts/task/mod.ts";
import { fleetOf, fleetVerifies, hasTask, inFleet, LEASE_MS, until } from "../fake/fleet.ts";
import { EDITS, isAfter, makeDesk } from "./desk.ts";

for (const after of [1, 3]) {
  Deno.test(`a task goes on at another kernel when its own is killed after outcome ${after}`, async () => {
    await inFleet(2, async ({ homes: [one, two], query }) => {
      assert.ok(one && two);
      await makeDesk(one.desk);
      const doomed = await one.start({ failpoint: { at: "afterOutcome", after } });
      const other = await two.start();
      const task = await doomed.run({ scenario: EDITS });
      await doomed.dies();
      const died = performance.now();
      const lease = await query(
        "SELECT extract(epoch FROM lease_until - clock_timestamp()) * 1000 AS ms FROM remit.kernels WHERE name = 'k0'",
      );
      const left = Math.max(0, Number(lease[0]?.["ms"]));
      assert.ok(left <= LEASE_MS + 20_000, "a lease lasts for the calls under way");
      await hasTask(other, task, 60_000);
      const late = performance.now() - died - left;
      assert.ok(late < 10_000, `taken over ${late} ms after its lease had run out`);
      assert.ok(late > -500, `taken over ${-late} ms before its lease had run out`);
      await until("its question", async () => (await other.questions(task))[0]);
      const following = await other.follow(task, { answer: "allow" });
      assert.deepEqual(await following.end, { status: "done", exit: 0 });
      await isAfter(one.desk);
      assert.equal(AgentTask.parse(await other.ask("task", { task })).applied.length, 1);
      assert.equal(following.told[0]?.n, 0, "its whole history is told here");
      await fleetVerifies(other);
      const rows = await fleetOf(other);
      assert.deepEqual(rows.map(({ name, alive }) => [name, alive]), [["k0", false], ["k1", true]]);

      // The killed one starts again: what is another's is not its own any more.
      const again = await one.start();
      assert.deepEqual(await again.ask("tasks", { archived: true }), []);
      await fleetVerifies(again);
    });
  });
}
