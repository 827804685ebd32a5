import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";
import { asked, CHANGE, plan } from "./_desk.ts";

Deno.test("a file that bob changed while carol was thinking would have been overwritten by her yes", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ turns: CHANGE, onQuestion: "ask" });
    const question = await asked(siege, task);
    await Deno.writeTextFile(`${siege.desk}/notes/plan.md`, "bob was here\n");
    await siege.answer(question.id, "allow");
    const call = await task.first(({ event, body }) =>
      event === "outcome" && body["tool"] === "patch_apply"
    );
    assert.equal(call.body["outcome"], "executionError");
    assert.match(String((call.private["result"] as { content: string }).content), /conflicts/);
    assert.equal(await plan(siege), "bob was here\n");
  });
});
