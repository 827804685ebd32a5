/** How often a person is asked by agents that do everyday things with servers that say nothing of their tools. */
import assert from "node:assert/strict";
import { type OfficeRun, runOffices } from "../fake/mcp_office.ts";
import { needs } from "../needs.ts";

const TASKS = 6;

Deno.test("alice is asked once for each of her agents' tasks that changes something, and never about reading", async () => {
  if (!needs("bwrap") || !needs("prlimit")) return;
  const runs: OfficeRun[] = [];
  await runOffices(TASKS, (run) => runs.push(run));
  assert.equal(runs.length, TASKS);
  for (const { task, outcomes, asked, kept } of runs) {
    assert.ok(outcomes.every((outcome) => outcome === "ok"), JSON.stringify({ task, outcomes }));
    const changes = task.calls.filter(({ write }) => write);
    assert.deepEqual(asked, changes.length === 0 ? [] : ["patch_apply"]);
    // What she said yes to is there, each change of it.
    for (const { about } of changes) assert.ok(kept.includes(about), about);
  }
  assert.ok(runs.some(({ asked }) => asked.length === 0));
});
