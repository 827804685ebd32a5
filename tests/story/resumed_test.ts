/** alice's machine goes down in the middle: her task goes on where it was, and nothing happens twice. */
import assert from "node:assert/strict";
import * as z from "zod";
import { type Machine, onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";
import { openTerminal } from "../fake/terminal.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { kill9 } from "../fake/processes.ts";
import { needs } from "../needs.ts";

const Reads = z.array(z.object({ call: z.string(), model: z.string(), nonce: z.string() }));
const Rows = z.array(z.object({ id: z.string() }));

/** A model that takes its time for the second turn. */
const SLOW = `
scenario: slow
turns:
  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - say: 'You leave on {{ tool.file_read | between "on " "." }}.'
    stream: { firstMs: 4000 }
`;

async function kernelOf(machine: Machine): Promise<number | undefined> {
  for (const pid of await machine.processes()) {
    const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    if (line.includes("kernel.js")) return pid;
  }
  return undefined;
}

async function killKernel(machine: Machine): Promise<void> {
  const pid = await waitUntil("a kernel", () => kernelOf(machine));
  kill9(pid);
  await waitUntil(
    "the end of the kernel",
    async () => await kernelOf(machine) === undefined || undefined,
  );
}

Deno.test("alice's kernel dies while her agent thinks: resume goes on where it was, to the end", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, SLOW)];
    const place = { env: machine.env, cwd: machine.dir };
    const run = openTerminal(machine.command(["run", "-p", "When do I leave", ...words]), place);
    await run.shows("✓ file_read");
    await killKernel(machine);
    assert.equal(await run.ended(), 67, run.screen());
    // Not asked of a kernel: the next one goes on by itself, and may be done before it is told to.
    const task = /Cannot follow task "?(t[0-9a-z]{12})/.exec(run.screen())?.[1] ?? "";
    assert.notEqual(task, "", run.screen());
    await run.close();
    const resumed = await machine.remit(["resume", task]);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.equal(resumed.stdout, "You leave on Monday.\n");
    // What was read may have changed: it is read again, for the same proposal of the same model.
    const reads = await machine.remit(["audit", "query", "--tool", "file_read"]);
    const [first, second, ...more] = Reads.parse(
      reads.stdout.trim().split("\n").map((line) => JSON.parse(line)),
    );
    assert(first !== undefined && more.length === 0);
    assert.notEqual(first.nonce, "");
    assert.deepEqual(second, first);
    assert.match((await machine.remit(["log", task])).stdout, /recovered/);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
    const twice = await machine.remit(["resume", task]);
    assert.equal(twice.code, 1, "what has ended cannot go on");
  });
});

Deno.test("alice's question outlives its kernel: resuming does not answer it, she does", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, MOVES_THE_TRIP)];
    const done = await machine.remit(["run", "-p", "Move the trip", "--json", ...words]);
    const run = readRun(done.stdout);
    assert.equal(done.code, 75);
    await killKernel(machine);

    const [question, ...more] = Rows.parse(await machine.json(["questions"]));
    assert(question !== undefined && more.length === 0);
    const resumed = await machine.remit(["resume", run.task]);
    assert.equal(resumed.code, 75, resumed.stderr);
    assert.equal(Rows.parse(await machine.json(["questions"])).length, 1, "asked once, not twice");

    const answered = await machine.remit(["answer", question.id, "allow"]);
    assert.equal(answered.code, 0, answered.stderr);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
    const applied = await machine.remit(["audit", "query", "--tool", "patch_apply"]);
    assert.equal(applied.stdout.trim().split("\n").length, 1, applied.stdout);
  });
});

Deno.test("alice's kernel dies while it asks: resume asks again, at a terminal, or says what waits", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, MOVES_THE_TRIP)];
    const place = { env: machine.env, cwd: machine.dir };
    const first = openTerminal(
      machine.command(["run", "-p", "Move the trip", ...words]),
      place,
    );
    await first.shows("your answer");
    await killKernel(machine);
    await first.ended();
    await first.close();

    const [task] = Rows.parse(await machine.json(["task", "show"]));
    assert(task !== undefined);
    const unattended = await machine.remit(["resume", task.id]);
    assert.equal(unattended.code, 75, unattended.stderr);
    assert.match(unattended.stderr, /waits for a person/);
    // It may have ended by itself: nothing is left to do.
    if (await kernelOf(machine) !== undefined) await killKernel(machine);

    const again = openTerminal(machine.command(["resume", task.id]), place);
    try {
      await again.shows("your answer");
      await again.type("y\n");
      assert.equal(await again.ended(), 0, again.screen());
      assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
    } finally {
      await again.close();
    }
  });
});
