import assert from "node:assert/strict";
import { fakePowers } from "../_fixture/world.ts";
import { TASK, taskJson } from "../_fixture/samples.ts";
import { runCommandLine } from "../_fixture/world.ts";
import { recordOf } from "../command.ts";
import type { Json } from "../../contracts/base/mod.ts";

const plain = recordOf(taskJson());
const SCOUT = `${TASK.slice(0, 4)}aaaaaaaaa`;
const SMITH = `${TASK.slice(0, 4)}bbbbbbbbb`;
const tasks: Json = [
  taskJson(),
  { ...plain, id: SCOUT, agent: "scout", labels: { project: "alpha", tier: "worker" } },
  { ...plain, id: SMITH, agent: "smith", labels: { project: "beta", tier: "worker" } },
];
const ids = [TASK, SCOUT, SMITH];

/** The ids that a command's output names, for each way to ask. */
async function named(words: readonly string[]): Promise<string[]> {
  const powers = fakePowers({
    ops: {
      tasks: () => tasks,
      ps: () => ids.map((task, n) => ({ pid: n + 2, task, usage: {} })),
      auditQuery: () => ids.map((task) => ({ task, tool: "file_read" })),
      more: () => [],
    },
  });
  assert.equal(await runCommandLine([...words], powers), 0, words.join(" "));
  const out = powers.screen.outs.join("");
  return ids.filter((id) => out.includes(id));
}

for (const command of [["tasks"], ["ps"], ["audit", "query"]]) {
  Deno.test(`${command.join(" ")} chooses by the agent and by its labels, all of which must hold`, async () => {
    const by = (...flags: string[]): Promise<string[]> => named([...command, ...flags]);
    assert.deepEqual(await by(), ids);
    assert.deepEqual(await by("--agent", "scout"), [SCOUT]);
    assert.deepEqual(await by("--labels", "tier=worker"), [SCOUT, SMITH]);
    assert.deepEqual(await by("--labels", "tier=worker,project=beta"), [SMITH]);
    assert.deepEqual(await by("--labels", "tier=worker", "--labels", "project=alpha"), [SCOUT]);
    assert.deepEqual(await by("--labels", "project=gamma"), []);
    // A name that every object has is no label.
    assert.deepEqual(await by("--labels", "constructor=Object"), []);
  });
}

Deno.test("labels that are not NAME=VALUE are refused with how to write them", async () => {
  const powers = fakePowers({ ops: { tasks: () => tasks } });
  assert.equal(await runCommandLine(["tasks", "--labels", "alpha"], powers), 2);
  assert.match(powers.screen.lines.join("\n"), /write NAME=VALUE/);
});
