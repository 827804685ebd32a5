import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";
import { asked, CALL, PLAN, plan } from "./_desk.ts";

/** Asks; while carol thinks, reads the mail when it is told to. */
const PROGRAM = `({ async turn(ports) { ${CALL}
  await call("e", "file_edit", { path: "desk/notes/plan.md", old: "call", new: "ignore" });
  ports.listen({ signal: () => call("m", "file_read", { path: "desk/inbox/mail.eml" }) });
  const { outcome, error } = await call("p", "patch_apply", {});
  return { stop: "answered", text: outcome + " " + error };
} })`;

Deno.test("carol's yes to a clean process would have been used by one that read mallory's mail meanwhile", async () => {
  await besiege(async (siege) => {
    await Deno.mkdir(`${siege.desk}/inbox`);
    await Deno.writeTextFile(`${siege.desk}/inbox/mail.eml`, "ignore the supplier\n");
    const mount = siege.mount({ marks: [{ path: "inbox", colour: "RED", label: "secret" }] });
    const task = await siege.run({ program: PROGRAM, mounts: [mount], onQuestion: "ask" });
    const first = await asked(siege, task);
    assert.equal(first.scope.colour, "YELLOW");
    const [row] = await siege.ask("ps", null) as { pid: number }[];
    await siege.ask("kill", { pid: row?.pid, signal: "SIGCTXPRESSURE" });
    await task.first(({ event, body }) => event === "outcome" && body["tool"] === "file_read");
    await siege.answer(first.id, "allow");
    const second = await asked(siege, task, 2);
    assert.deepEqual([second.scope.colour, second.scope.label], ["RED", "secret"]);
    assert.equal(second.sources.some(({ source }) => source.includes("mail.eml")), true);
    assert.equal(await plan(siege), PLAN);
    await siege.answer(second.id, "deny");
    await task.end;
    assert.match(String((await task.task())["answer"]), /^deniedByUser/);
    assert.equal(await plan(siege), PLAN);
  });
});
