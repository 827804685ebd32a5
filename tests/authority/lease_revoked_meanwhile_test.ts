import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";
import { asked, CHANGE, PLAN, plan } from "./_desk.ts";

Deno.test("a lease taken back while carol was thinking would have been used after her yes", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ turns: CHANGE, onQuestion: "ask" });
    const question = await asked(siege, task);
    const leases = await siege.ask("leases", { task: task.id }) as {
      id: string;
      scope: { resource: string; right: string };
    }[];
    const lease = leases.find(({ scope }) => scope.resource === "mount" && scope.right === "write");
    await siege.ask("revoke", { lease: lease?.id });
    await siege.answer(question.id, "allow");
    const refused = await task.first(({ event, body }) =>
      event === "refused" && body["tool"] === "patch_apply"
    );
    assert.equal(refused.body["code"], "leaseRevoked");
    await task.end;
    assert.equal(await plan(siege), PLAN);
    assert.equal(
      task.events.some(({ event, body }) => event === "intent" && body["tool"] === "patch_apply"),
      false,
    );
  });
});
