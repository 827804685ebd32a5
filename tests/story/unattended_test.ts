/** alice starts a run at night and goes home. It waits; she answers in the morning. */
import assert from "node:assert/strict";
import * as z from "zod";
import { type Machine, onMachine } from "../fake/remit.ts";
import { readRun, type RunDocument } from "../fake/run_document.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";

const Waiting = z.array(z.object({ id: z.string(), task: z.string(), kind: z.string() }));

async function runAtNight(machine: Machine): Promise<{ run: RunDocument; question: string }> {
  const words = [...await alicesPlans(machine), ...await playing(machine, MOVES_THE_TRIP)];
  const done = await machine.remit(["run", "-p", "Move the trip", ...words, "--json"]);
  assert.equal(done.code, 75, done.stderr);
  const run = readRun(done.stdout);
  assert.equal(run.status, "needsApproval");
  assert.equal(run.exit, 75);
  assert.deepEqual(run.changes.map(({ path, state }) => [path, state]), [
    ["plans/trip.txt", "staged"],
  ]);
  const [waiting, ...more] = Waiting.parse(await machine.json(["questions"]));
  assert(waiting !== undefined && more.length === 0);
  assert.equal(waiting.task, run.task);
  return { run, question: waiting.id };
}

Deno.test("alice's run waits with exit code 75, and her yes from another process lets it finish", async () => {
  await onMachine(async (machine) => {
    const { run, question } = await runAtNight(machine);
    const before = "Leave on Monday.\nTake the boat.\n";
    assert.equal(await machine.read("plans/trip.txt"), before, "staged is not applied");

    const listed = await machine.remit(["questions"]);
    assert(listed.stdout.includes(question), listed.stdout);
    const answered = await machine.remit(["answer", question, "allow"]);
    assert.equal(answered.code, 0, answered.stderr);
    // She is shown what she allows, also here.
    assert.match(answered.stderr, /┃ {3}│ -Leave on Monday\./);
    assert.match(answered.stderr, /┃ {3}│ \+Leave on Tuesday\./);
    assert.equal(answered.stdout, "The trip is on Tuesday now.\n");
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");

    const twice = await machine.remit(["answer", question, "allow"]);
    assert.equal(twice.code, 1, `a question is answered once: ${twice.stderr}`);
    assert.deepEqual(await machine.json(["questions"]), []);

    const undone = await machine.remit(["undo", run.task]);
    assert.equal(undone.code, 0, undone.stderr);
    assert.equal(await machine.read("plans/trip.txt"), before);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});

Deno.test("alice says no with words: the agent is told them, ends, and her folder is as it was", async () => {
  await onMachine(async (machine) => {
    const { run, question } = await runAtNight(machine);
    const answered = await machine.remit([
      "answer",
      question,
      "deny",
      "--say",
      "Bob comes on Monday",
    ]);
    assert.equal(answered.code, 0, answered.stderr);
    assert.match(answered.stdout, /^I was told: .*Bob comes on Monday/s);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    assert.deepEqual(await machine.json(["questions"]), [], "she is not asked again");
    const shown = await machine.remit(["task", "show", run.task]);
    assert.match(shown.stdout, /^status +done, exit 0$/m);
    // What was denied is kept to look at, and goes nowhere.
    const diff = await machine.remit(["diff", run.task]);
    assert.match(diff.stdout, /trip\.txt +\(changed, staged\)/);
  });
});
