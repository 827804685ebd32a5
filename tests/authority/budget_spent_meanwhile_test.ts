import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";
import { asked, CALL, PLAN, plan } from "./_desk.ts";

const PROGRAM = `({ async turn(ports) { ${CALL}
  await call("e", "file_edit", { path: "desk/notes/plan.md", old: "call", new: "ignore" });
  let n = 0;
  ports.listen({ signal: (signal) => signal === "SIGCTXPRESSURE" && Promise.all([1, 2].map(() => call("r" + n++, "file_read", { path: "desk/notes/plan.md" }))) });
  const { outcome } = await call("p", "patch_apply", {});
  return { stop: "answered", text: outcome };
} })`;

Deno.test("a budget that was spent while carol was thinking would have been overdrawn by her yes", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ program: PROGRAM, onQuestion: "ask", limits: { toolCalls: 3 } });
    const question = await asked(siege, task);
    const [row] = await siege.ask("ps", null) as { pid: number }[];
    await siege.ask("kill", { pid: row?.pid, signal: "SIGCTXPRESSURE" });
    await task.first(({ event, body }) => event === "outcome" && body["call"] === "r0");
    await task.first(({ event, body }) => event === "outcome" && body["call"] === "r1");
    await siege.answer(question.id, "allow");
    const refused = await task.first(({ event, body }) =>
      event === "refused" && body["call"] === "p"
    );
    assert.equal(refused.body["code"], "budgetExhausted");
    await task.end;
    assert.equal(await plan(siege), PLAN);
  });
});
