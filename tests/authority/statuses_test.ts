/** Every status that a task can have, reached by real processes, as an operator is told of it. */
import assert from "node:assert/strict";
import { TaskStatus } from "../../contracts/task/mod.ts";
import { besiege, type Siege, type Watched } from "../fake/siege.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { asked } from "./_desk.ts";

const EDITS = `
  - calls: [{ tool: file_edit, args: { path: desk/notes/plan.md, old: call, new: ignore } }]
  - say: Edited.`;
const HANGS = "\n  - hang: true";

async function process(siege: Siege, task: Watched): Promise<number> {
  const rows = await siege.ask("ps", null) as { pid: number; task: string; os: number[] }[];
  return rows.find((row) => row.task === task.id && row.os.length > 0)?.pid ?? 0;
}

Deno.test("a task is told as it stands: open, blocked, reviewing, needsApproval, and its four ends", async () => {
  await besiege(async (siege) => {
    const seen = new Set<string>();
    const is = async (task: Watched, status: string): Promise<void> => {
      seen.add(status);
      assert.equal((await task.task())["status"], status);
      const listed = await siege.ask("tasks", {}) as { id: string; status: string }[];
      assert.equal(listed.find(({ id }) => id === task.id)?.status, status);
    };

    const works = await siege.run({ turns: HANGS });
    await waitUntil("its process", async () => await process(siege, works) || undefined);
    await is(works, "open");
    const pid = await process(siege, works);
    await siege.ask("kill", { pid, signal: "SIGSTOP" });
    await is(works, "blocked");
    await siege.ask("kill", { pid, signal: "SIGCONT" });
    await is(works, "open");
    await siege.ask("cancel", { task: works.id });
    await is(works, "cancelled");

    const looked = await siege.run({ turns: EDITS, onQuestion: "ask" });
    const question = await asked(siege, looked);
    await is(looked, "reviewing");
    await siege.answer(question.id, "allow");
    assert.equal((await looked.end).status, "done");
    await is(looked, "done");

    const queued = await siege.run({ turns: EDITS.replace("call,", "the,"), onQuestion: "queue" });
    assert.equal((await queued.end).status, "needsApproval");
    await is(queued, "needsApproval");

    const failing = await siege.run({ turns: EDITS, limits: { toolCalls: 0 } });
    assert.equal((await failing.end).status, "failed");
    await is(failing, "failed");

    const late = await siege.run({ turns: HANGS, limits: { wallClockMs: 300 } });
    assert.equal((await late.end).status, "expired");
    await is(late, "expired");
    assert.deepEqual([...seen].sort(), [...TaskStatus.options].sort());
  });
});

Deno.test("a task that a kernel left in its review is reviewed by the next one, and nothing is lost", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ turns: EDITS, onQuestion: "ask" });
    await asked(siege, task);
    await siege.restart();
    // Nobody looks: what it asks is queued.
    const again = await siege.watch(task.id);
    assert.equal((await again.end).status, "needsApproval");
    await siege.ask("resume", { task: task.id });
    const next = await siege.watch(task.id);
    const question = await asked(siege, next);
    await siege.answer(question.id, "allow");
    await waitUntil("its end", async () => (await next.task())["status"] === "done" || undefined);
    assert.equal(await Deno.readTextFile(`${siege.desk}/notes/plan.md`), "ignore the supplier\n");
  });
});
