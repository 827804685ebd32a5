/** A kernel of a fleet is killed half-way: another goes on with its task, once its lease has run out. */
import assert from "node:assert/strict";
import { AgentTask } from "../../contracts/task/mod.ts";
import { fleetOf, fleetVerifies, hasTask, inFleet, LEASE_MS, until } from "../fake/fleet.ts";
import { descendants, kill9 } from "../fake/processes.ts";
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
      await hasTask(other, task, 300_000);
      const late = performance.now() - died - left;
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

Deno.test("a kernel ends with its store process, and another goes on with its task", async () => {
  await inFleet(2, async ({ homes: [one, two] }) => {
    assert.ok(one && two);
    await makeDesk(one.desk);
    const doomed = await one.start();
    const other = await two.start();
    const task = await doomed.run({ scenario: EDITS });
    await until("its question", async () => (await doomed.questions(task))[0]);
    const store = (await descendants(doomed.pid)).filter(({ command }) =>
      command.includes("/store.js")
    );
    assert.ok(store.length > 0);
    // With the first of them the others may be gone.
    for (const { pid } of store) kill9(pid);
    assert.equal((await doomed.dies()).code, 1);
    assert.match(doomed.said(), /Cannot go on without the store/);
    await hasTask(other, task, 300_000);
    const following = await other.follow(task, { answer: "allow" });
    assert.deepEqual(await following.end, { status: "done", exit: 0 });
    await isAfter(one.desk);
    await fleetVerifies(other);
  });
});
