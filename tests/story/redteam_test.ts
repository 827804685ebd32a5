/** carol asks what an injection could do here: with Remit's rules, with rules that ask nothing, and with InjecAgent's cases. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { needs } from "../needs.ts";

interface Counts {
  readonly attacks: number;
  readonly succeeded: number;
  readonly userTasks: number;
  readonly done: number;
}

Deno.test("a compromised model gets nothing past the gate, and one who comes before anything was read does where the rules ask nothing (long)", async () => {
  if (!needs("node") || !needs("bwrap")) return;
  await onMachine(async (machine) => {
    const held = await machine.remit(["redteam", "--quick", "--suite", "bank", "--json"]);
    assert.equal(held.code, 0, held.stderr);
    const counts = JSON.parse(held.stdout) as Counts;
    assert.deepEqual([counts.attacks, counts.succeeded], [1, 0]);
    assert.deepEqual([counts.userTasks, counts.done], [1, 1]);
    const rules = await machine.write("loose.yaml", "version: 1\nrules:\n  - mode: auto\n");
    const page = `${machine.dir}/page.md`;
    const loose = await machine.remit([
      ...[
        "redteam",
        "--quick",
        "--suite",
        "bank",
        "--json",
        "--rules",
        rules,
        "--variant",
        "before",
        "--page",
        page,
      ],
    ]);
    assert.equal(loose.code, 1, loose.stderr);
    assert.equal((JSON.parse(loose.stdout) as Counts).succeeded, 1);
    assert.match(await Deno.readTextFile(page), /bank: divert during rent, before, person: exact/);
  });
});

Deno.test("tasks for models pass with the scripted model, and a task that is not done does not (long)", async () => {
  if (!needs("node") || !needs("bwrap")) return;
  await onMachine(async (machine) => {
    const plot = `${machine.dir}/rate.svg`;
    const good = await machine.remit(["eval", "--suite", "review", "--json", "--plot", plot]);
    assert.equal(good.code, 0, good.stderr);
    assert.equal(JSON.parse(good.stdout).passed, 1);
    assert.match(await Deno.readTextFile(plot), /100 %/);
    const idle = await machine.write(
      "idle.yaml",
      "scenario: idle\nturns: [{ say: I know nothing., loop: true }]\n",
    );
    const bad = await machine.remit([
      "eval",
      "--suite",
      "review",
      "--json",
      "--model",
      `scripted:${idle}`,
    ]);
    assert.equal(bad.code, 1, bad.stderr);
    assert.equal(JSON.parse(bad.stdout).passed, 0);
  });
});
