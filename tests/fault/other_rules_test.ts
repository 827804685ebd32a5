/** A kernel dies, and another begins in another place: what a task's own place forbids must stay forbidden. */
import assert from "node:assert/strict";
import type { PolicySource } from "../../contracts/policy/mod.ts";
import { NO_POLICY } from "../../contracts/policy/mod.ts";
import { besiege } from "../fake/siege.ts";

const STRICT: PolicySource = {
  ...NO_POLICY,
  rules: [{ tool: "file_read", mode: "forbidden", at: "desk/remit.yaml:3" }],
};
/** Slow enough that the kernel is killed before it reads. */
const READS = `
  - calls: [{ tool: file_list, args: { path: desk } }]
  - stream: { firstMs: 3000 }
    calls: [{ tool: file_read, args: { path: desk/notes/plan.md } }]
  - say: "{{ tool.file_read }}"`;

Deno.test("a task would have read what its folder forbids, once its kernel had died and a kernel of another folder took it up", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ turns: READS });
    await task.first(({ event, body }) => event === "outcome" && body["tool"] === "file_list");
    await siege.restart({ policy: NO_POLICY });
    const left = await siege.ask("task", { task: task.id }) as Record<string, unknown>;
    assert.equal(left["status"], "open");
    assert.match(String(left["reason"]), /began under other rules: "remit resume t\w+" goes on/);
    assert.deepEqual(await siege.ask("ps", null), []);
    const calls = await siege.ask("auditQuery", { task: task.id }) as { tool: string }[];
    assert.deepEqual(calls.map(({ tool }) => tool), ["file_list"]);

    // A kernel of its own place takes it up by itself, and the rule holds.
    await siege.restart();
    const again = await siege.watch(task.id);
    await again.end;
    const refused = await again.first(({ event, body }) =>
      event === "refused" && body["tool"] === "file_read"
    );
    assert.equal(refused.body["rule"], "desk/remit.yaml:3");
  }, { config: { policy: STRICT } });
});

Deno.test("an operator who says so goes on under the rules of now, and that is on record", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ turns: READS });
    await task.first(({ event, body }) => event === "outcome" && body["tool"] === "file_list");
    await siege.restart({ policy: NO_POLICY });
    const { rules } = await siege.ask("task", { task: task.id }) as { rules: string };
    await siege.ask("resume", { task: task.id });
    const again = await siege.watch(task.id);
    assert.equal((await again.end).status, "done");
    const change = again.events.find(({ event, body }) => event === "recovered" && body["rules"]);
    assert.ok(change !== undefined && change.body["rules"] !== rules);
  }, { config: { policy: STRICT } });
});

const EDITS = `
  - calls: [{ tool: scratch_write, args: { path: scratch/a, content: x } }, { tool: file_edit, args: { path: desk/notes/plan.md, old: call, new: ignore } }]
  - calls: [{ tool: patch_apply }]
  - calls: [{ tool: file_read, args: { path: desk/notes/plan.md } }]
  - say: "{{ tool.file_read }}"`;

Deno.test("carol's yes to one change would have let the task go on without the rules of its folder", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({ turns: EDITS, onQuestion: "queue" });
    assert.equal((await task.end).status, "needsApproval");
    await siege.restart({ policy: NO_POLICY });
    const [question] = await siege.ask("questions", { task: task.id }) as { id: string }[];
    await siege.answer(String(question?.id), "allow");
    const left = await siege.ask("task", { task: task.id }) as Record<string, unknown>;
    assert.equal(left["status"], "needsApproval");
    assert.deepEqual(await siege.ask("ps", null), []);
    assert.match(await Deno.readTextFile(`${siege.desk}/notes/plan.md`), /^call/);
  }, { config: { policy: STRICT } });
});
