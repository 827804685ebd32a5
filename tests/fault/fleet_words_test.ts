/**
 * mallory has the role of one kernel of a fleet, and says words to another: that a person's task be ended, and what it has
 * staged. What schedulers of swarms may say of their own tasks holds for no other.
 */
import assert from "node:assert/strict";
import { AgentTask } from "../../contracts/task/mod.ts";
import { inFleet, until } from "../fake/fleet.ts";
import { EDITS, makeDesk } from "./desk.ts";

Deno.test("a stolen role's word ends no person's task, and is shown nothing of one that is over", async () => {
  await inFleet(2, async ({ homes: [one, two], query }) => {
    assert.ok(one && two);
    await makeDesk(one.desk);
    const kernel = await one.start();
    const mallory = await two.start();
    const statusOf = async (task: string): Promise<string> =>
      AgentTask.parse(await kernel.ask("task", { task })).status;
    const asks = async (task: string): Promise<void> => {
      await until("its question", async () => (await kernel.questions(task as never))[0]);
      await until(
        "the task put aside",
        async () => await statusOf(task) === "needsApproval" || undefined,
      );
    };
    const persons = await kernel.run({ scenario: EDITS, onQuestion: "queue" });
    const done = await kernel.run({ scenario: "scenario: s\nturns: [{ say: done }]\n" });
    const swarms = await kernel.run({
      ...{ scenario: EDITS, onQuestion: "queue" },
      ingress: { channel: "schedule", principal: "swarm:sw1", colour: "YELLOW", label: "internal" },
    });
    await asks(persons);
    await asks(swarms);
    await until("the end of the other", async () => await statusOf(done) === "done" || undefined);

    await mallory.stop();
    const say = async (kind: string, task: string): Promise<void> => {
      const words = JSON.stringify({ kind, id: `w-${kind}`, task, from: "k1" });
      await query(
        `SELECT remit.send(id, incarnation, '${task}', '${words}') FROM remit.kernels WHERE name = 'k1'`,
      );
    };
    /** What was said back to her, once it was. */
    const heard = async (id: string): Promise<unknown> =>
      await until(`an answer to ${id}`, async () => {
        const rows = await query(
          "SELECT body FROM remit.post p JOIN remit.kernels k ON k.id = p.kernel AND k.name = 'k1'",
        );
        const said = rows.map(({ body }) => JSON.parse(String(body)));
        return said.find((each) => each.id === id);
      });
    await say("cancel", persons);
    await heard("w-cancel");
    assert.equal(await statusOf(persons), "needsApproval");
    await say("staged", done);
    const { value } = await heard("w-staged") as { readonly value: unknown };
    assert.equal(value, null);
    await query("DELETE FROM remit.post");
    // The same word about a swarm's task is its scheduler's.
    await say("cancel", swarms);
    await heard("w-cancel");
    assert.equal(await statusOf(swarms), "cancelled");
  });
});
