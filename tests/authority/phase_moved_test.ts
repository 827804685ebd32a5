/** A task's phase moves by a person's word, and holds for every call from then on. */
import assert from "node:assert/strict";
import { besiege, type Seen, type Siege } from "../fake/siege.ts";
import { asked, CHANGE, PLAN, plan } from "./_desk.ts";

const move = (siege: Siege, task: string, phase: string): Promise<unknown> =>
  siege.ask("phase", { task, phase });

const turnOver = ({ event, private: secret }: Seen): boolean =>
  event === "taskStatus" && secret?.["answer"] !== undefined;

Deno.test("a task moved back to planning while carol was thinking would have written after her yes", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ turns: CHANGE, onQuestion: "ask" });
    const question = await asked(siege, task);
    await move(siege, task.id, "plan");
    await siege.answer(question.id, "allow");
    const refused = await task.first(({ event, body }) =>
      event === "refused" && body["tool"] === "patch_apply"
    );
    assert.equal(refused.body["rule"], "built-in: phase plan");
    await task.end;
    assert.equal(await plan(siege), PLAN);
    assert.equal(
      task.events.some(({ event, body }) => event === "intent" && body["tool"] === "patch_apply"),
      false,
    );
    await assert.rejects(move(siege, task.id, "work"), /it has ended/);
  });
});

Deno.test("carol's plan becomes work in the same conversation, and stays it in the next kernel", async () => {
  await besiege(async (siege) => {
    const write = "calls: [{ tool: scratch_write, args: { path: scratch/a.txt, content: a } }]";
    const does = ["say: I would ring.", write, "say: Staged.", write, "say: No more."];
    const turns = does.map((each, n) => `\n  - when: { inference: ${n + 1} }\n    ${each}`).join(
      "",
    );
    const task = await siege.run({ turns, phase: "plan", interactive: true });
    await task.first(turnOver);
    const mode = async (): Promise<string | undefined> =>
      (await siege.ask("tools", { task: task.id }) as { name: string; permission: string }[])
        .find(({ name }) => name === "scratch_write")?.permission;
    assert.equal(await mode(), "forbidden");
    await move(siege, task.id, "work");
    assert.equal(await mode(), "auto");
    const before = task.events.at(-1)?.n ?? 0;
    await siege.ask("say", { task: task.id, text: "Do it." });
    await task.first((each) => turnOver(each) && each.n > before);
    const moved = task.events.find(({ event }) => event === "phase");
    assert.deepEqual(moved?.body, { actor: "operator", phase: "work", before: "plan" });
    assert.equal(task.events.some(({ event }) => event === "refused"), false);

    await move(siege, task.id, "review");
    await siege.restart();
    const state = await siege.ask("task", { task: task.id }) as { phase: string };
    assert.equal(state.phase, "review");
    const again = await siege.watch(task.id);
    await siege.ask("say", { task: task.id, text: "Again." });
    const refused = await again.first(({ event }) => event === "refused");
    assert.deepEqual([refused.body["tool"], refused.body["rule"]], [
      "scratch_write",
      "built-in: phase review",
    ]);
  });
});
