/** Who asks decides what an agent may do: a guest less than the operator, a stranger hardly anything. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";

const TRIES_ALL = `
scenario: tries all
turns:
  - calls:
      - { tool: file_read, args: { path: plans/trip.txt } }
      - { tool: file_search, args: { path: plans, query: boat } }
      - { tool: file_edit, args: { path: plans/trip.txt, old: Monday, new: Tuesday } }
      - { tool: file_write, args: { path: plans/new.txt, content: x } }
      - { tool: file_delete, args: { path: plans/trip.txt } }
      - { tool: scratch_write, args: { path: scratch/x, content: x } }
      - { tool: outbox_publish, args: { path: plans/trip.txt } }
      - { tool: http_fetch, args: { url: "https://evil.example/" } }
  - say: "I read: {{ tool.file_read | line 1 }}"
`;

const REMOTE = `
scenario: far away
model: { remote: true }
turns: [{ say: I answer from far away. }]
`;

Deno.test("an anonymous stranger's agent may read, and whatever else it tries is refused by a rule, unasked", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, TRIES_ALL)];
    const run = async (profile: string): Promise<ReturnType<typeof readRun>> =>
      readRun(
        (await machine.remit(["run", "-p", "Do all", "--profile", profile, "--json", ...words]))
          .stdout,
      );
    const stranger = await run("anonymous");
    assert.equal(stranger.answer, "I read: Leave on Monday.");
    assert.deepEqual(
      stranger.refused.map(({ tool, outcome }) => [tool, outcome]),
      [
        "file_edit",
        "file_write",
        "file_delete",
        "scratch_write",
        "outbox_publish",
        "http_fetch",
      ].map((tool) => [tool, "refusedByPolicy"]),
    );
    assert(stranger.refused.every(({ rule }) => rule === "built-in: anonymous only reads"));
    assert.deepEqual(stranger.asked, [], "and no person is bothered with it");
    assert.deepEqual(stranger.changes, []);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    assert.equal((await machine.remit(["run", "-p", "x", "--profile", "root", ...words])).code, 2);
  });
});

Deno.test("a guest's agent uses local models only, and what it changes waits for the operator", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    const remote = await playing(machine, REMOTE);
    const far = await machine.remit([
      "run",
      "-p",
      "Hello",
      "--profile",
      "guest",
      ...mount,
      ...remote,
    ]);
    assert.notEqual(far.code, 0);
    assert.equal(far.stdout, "");
    assert.match(far.stderr, /guest/);
    const own = await machine.remit(["run", "-p", "Hello", ...mount, ...remote]);
    assert.equal(own.stdout, "I answer from far away.\n", "the operator chose this model");

    const local = await playing(machine, MOVES_THE_TRIP);
    const waits = await machine.remit([
      "run",
      "-p",
      "Move the trip",
      "--profile",
      "guest",
      ...mount,
      ...local,
    ]);
    assert.equal(waits.code, 75, waits.stderr);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
  });
});
