import assert from "node:assert/strict";
import { besiege } from "../../fake/siege.ts";

/** Stages a file, asks for it to be applied, and dies while the person thinks. */
const PROGRAM = `({ async turn(ports) {
  const snapshot = (await ports.advertise()).id;
  const call = (id, name, args) => ports.call(snapshot, { id, name, arguments: JSON.stringify(args) });
  await call("w", "file_write", { path: "desk/late.md", content: "late" });
  void call("p", "patch_apply", {}).catch(() => {});
  ports.listen({ signal: () => Deno.exit(9) });
  for (;;) await new Promise((resolve) => setTimeout(resolve, 1_000));
} })`;

Deno.test("a yes to a worker that is dead would have done for nobody what it asked for", async () => {
  await besiege(async (siege) => {
    const mallory = await siege.run({ program: PROGRAM, onQuestion: "ask" });
    const asked = await mallory.first(({ event }) => event === "questionAsked");
    const question = String(asked.body["question"]);
    const [row] = await siege.ask("ps", null) as { pid: number }[];
    await siege.ask("kill", { pid: row?.pid, signal: "SIGCTXPRESSURE" });
    await mallory.first(({ event, body }) =>
      event === "questionAnswered" && body["question"] === question && body["state"] === "lapsed"
    );
    await assert.rejects(siege.answer(question, "allow"), /closed/);
    // What was staged is still proposed, once, by the kernel: a person decides over all of it.
    const review = await mallory.first(({ event, body }) =>
      event === "questionAsked" && String(body["call"]).startsWith("review-")
    );
    await siege.answer(String(review.body["question"]), "deny");
    const { status, exit } = await mallory.end;
    assert.deepEqual({ status, exit }, { status: "failed", exit: 67 });
    assert.match(String((await mallory.task())["reason"]), /exit code 9/);
    await assert.rejects(Deno.stat(`${siege.desk}/late.md`), Deno.errors.NotFound);
  });
});
