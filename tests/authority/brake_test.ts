import assert from "node:assert/strict";
import { besiege, type Siege, type Watched } from "../fake/siege.ts";
import { asked, CALL } from "./_desk.ts";

const DEAR = `scenario: dear
model: { price: { input: 1000000, output: 1000000 } }
turns:
  - calls: [{ tool: file_read, args: { path: desk/notes/plan.md } }]
    usage: { inputTokens: 5, outputTokens: 5 }
  - say: Done.
    usage: { inputTokens: 1, outputTokens: 1 }
`;
const spender = (siege: Siege, onQuestion: "ask" | "queue" | "deny"): Promise<Watched> =>
  siege.run({ scenario: DEAR, limits: { money: 10_000, moneyPerMinute: 5 }, onQuestion });

Deno.test("mallory's task would have spent a month's money in a minute before anybody was asked", async () => {
  await besiege(async (siege) => {
    const [allowed, denied] = [await spender(siege, "ask"), await spender(siege, "ask")];
    const questions = [await asked(siege, allowed), await asked(siege, denied)];
    for (const { kind } of questions) assert.equal(kind, "brake");
    assert.equal(allowed.events.filter(({ event }) => event === "inferred").length, 1);
    await siege.answer(questions[0]?.id ?? "", "allow");
    await siege.answer(questions[1]?.id ?? "", "deny");
    assert.equal((await allowed.end).exit, 0);
    assert.equal((await denied.end).exit, 66);
    assert.match(String((await denied.task())["reason"]), /too fast/);
    assert.equal((await (await spender(siege, "queue")).end).exit, 75);
    assert.equal((await (await spender(siege, "deny")).end).exit, 66);
  });
});

Deno.test("mallory's braked task would have gone on when carol, later, said no", async () => {
  await besiege(async (siege) => {
    const task = await spender(siege, "queue");
    assert.equal((await task.end).exit, 75);
    await siege.answer((await asked(siege, task)).id, "deny");
    const again = await siege.watch(task.id);
    await again.first(({ event, body }) => event === "taskStatus" && body["status"] === "failed");
    assert.equal((await task.task())["exit"], 66);
    assert.equal(again.events.filter(({ event }) => event === "inferred").length, 1);
  });
});

/** Reads, and would read again when it is told of a signal. */
const AGAIN = `({ async turn(ports) { ${CALL}
  const told = new Promise((resolve) => ports.listen({ signal: resolve }));
  await call("r1", "file_read", { path: "desk/notes/plan.md" });
  await told;
  await call("r2", "file_read", { path: "desk/notes/plan.md" });
  return { stop: "answered", text: "" };
} })`;

Deno.test("a process that is braked by hand stands still until carol says yes, and ends when she says no", async () => {
  await besiege(async (siege) => {
    for (const [decision, exit] of [["allow", 0], ["deny", 66]] as const) {
      const task = await siege.run({ program: AGAIN, onQuestion: "ask" });
      const outcomes = (): number => task.events.filter(({ event }) => event === "outcome").length;
      const { body } = await task.first(({ event }) => event === "outcome");
      await siege.ask("kill", { pid: body["pid"], signal: "SIGBRAKE" });
      const question = await asked(siege, task);
      assert.match(question.summary, /SIGBRAKE/);
      await siege.ask("kill", { pid: body["pid"], signal: "SIGCONT" });
      assert.equal(outcomes(), 1);
      await siege.answer(question.id, decision);
      assert.equal((await task.end).exit, exit);
      assert.equal(outcomes(), decision === "allow" ? 2 : 1);
    }
  });
});
