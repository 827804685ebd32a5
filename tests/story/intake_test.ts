/** alice wants to hear what her agent makes of a request before it acts; mallory's text and a model that only talks do not help themselves. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { eventsOf } from "../fake/model_scenes.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";

const TAKEN = {
  objective: "Say when the trip begins",
  risk: "low",
  capabilities: ["read plans/trip.txt"],
  unclear: ["whose trip"],
  tools: [{ tool: "file_read", atMost: 2 }],
  mounts: ["plans"],
};

/** Fills in the intake at its second answer; then works. A tool that it calls in the intake is not made. */
const WORKS = `
scenario: takes in
turns:
  - when: { user: { contains: "Before you act, say what the task is" } }
    say: "I will read the file."
    calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - when: { user: { contains: "Your answer does not fit" } }
    say: '${JSON.stringify(TAKEN)}'
  - when: { user: { equals: "When does it begin?" }, step: 1 }
    calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - when: { user: { equals: "When does it begin?" } }
    say: On Monday.
`;

Deno.test("alice's agent says what the task is before it can call anything; what did not fit is on record, and the instructions of her folder are read after it", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await machine.write("plans/AGENTS.md", "Mind the tide.\n");
    const words = ["run", "-p", "When does it begin?", "--intake", ...mount];
    const done = await machine.remit([...words, ...await playing(machine, WORKS), "--json"]);
    assert.equal(done.code, 0, done.stderr);
    const document = JSON.parse(done.stdout);
    assert.equal(document.answer, "On Monday.");
    assert.deepEqual(document.intake, TAKEN);
    const events = await eventsOf(machine, document.task);
    const intakes = events.filter(({ type }) => type === "intake");
    assert.deepEqual(
      intakes.map(({ attempt, misfit, risk, colour }) => ({ attempt, misfit, risk, colour })),
      [
        { attempt: 1, misfit: true, risk: undefined, colour: undefined },
        { attempt: 2, misfit: undefined, risk: "low", colour: "BLUE" },
      ],
    );
    // The only calls are those after the intake: the folder's instructions, and what the model asked for.
    const calls = events.flatMap(({ type }, n) => type === "tool_result" ? [n] : []);
    const over = events.findLastIndex(({ type }) => type === "intake");
    assert.equal(calls.length, 2);
    assert.ok(calls.every((n) => n > over));
    const [task] = await machine.json(["task", "list", "--json"]) as { objective: string }[];
    assert.equal(task?.objective, TAKEN.objective);
    const shown = await machine.remit(["conversation", "show", document.task]);
    assert.match(shown.stdout, /Your answer does not fit the template intake@2/);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);

    const seen = await machine.remit([...words, ...await playing(machine, WORKS)]);
    assert.match(seen.stderr, /intake +Say when the trip begins +risk low/);
    assert.match(seen.stderr, /unclear: whose trip/);
    assert.match(seen.stderr, /expects: file_read at most 2×/);
    assert.equal(seen.stdout.trim(), "On Monday.");
  });
});

/** Says that it needs one file of one folder; then tries everything else that it was handed. */
const GOES_BEYOND = `
scenario: goes beyond
turns:
  - when: { user: { contains: "Before you act, say what the task is" } }
    say: '${
  JSON.stringify({ ...TAKEN, tools: [...TAKEN.tools, { tool: "browser_screenshot", atMost: 1 }] })
}'
  - when: { user: { equals: "When does it begin?" }, step: 1 }
    calls:
      - { tool: file_read, args: { path: keys/id.txt } }
      - { tool: file_write, args: { path: plans/made.txt, content: made } }
      - { tool: file_read, args: { path: plans/trip.txt } }
  - when: { user: { equals: "When does it begin?" } }
    say: "{{ tool.file_read }}"
`;

Deno.test("what alice's agent did not name at its intake it does not hold: another folder and another tool are refused, and she sees what it gave up", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await machine.write("keys/id.txt", "the key of the house\n");
    const words = ["run", "-p", "When does it begin?", "--intake", ...mount];
    const run = [...words, "--mount", `keys=${machine.dir}/keys`];
    const model = await playing(machine, GOES_BEYOND);
    const done = await machine.remit([...run, ...model, "--json"]);
    const { task, answer } = JSON.parse(done.stdout);
    const results = (await eventsOf(machine, task)).filter(({ type }) => type === "tool_result");
    const told = JSON.stringify(results);
    assert.doesNotMatch(told, /the key of the house/);
    assert.match(String(answer), /Leave on Monday/);
    assert.deepEqual(results.map(({ call, status }) => [call, status]), [
      ["call_1", "invalidArguments"],
      ["call_2", "unknownTool"],
      ["call_3", "ok"],
    ], told);
    const seen = await machine.remit([...run, ...model]);
    const held = /holds: ([^]*?)\n +gives up: \d+ tools, keys\n/.exec(seen.stderr)?.[1] ?? "";
    // The tool that it named and does not hold is not among them.
    assert.equal(
      held.replaceAll(/\s+/g, " "),
      "file_read, patch_apply, tool_search, plans",
      seen.stderr,
    );
  });
});

Deno.test("a model that never fits is told three times and no more; nothing was done, and the task can go on with another model", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    const model = await playing(
      machine,
      "scenario: talks\nturns:\n  - { say: I am happy to help., loop: true }\n",
    );
    const run = ["run", "-p", "When does it begin?", "--intake", ...mount, ...model];
    const done = await machine.remit([...run, "--json"]);
    const document = readRun(done.stdout);
    assert.equal(done.code, 67, done.stderr);
    assert.match(
      String(JSON.parse(done.stdout).reason),
      /Cannot begin the task: 3 answers of the model did not fit the template intake@2, the last because it is no JSON value/,
    );
    const events = await eventsOf(machine, document.task);
    assert.equal(events.filter(({ type }) => type === "budget").length, 3);
    assert.equal(events.filter(({ type }) => type === "intake").length, 3);
    assert.equal(events.some(({ type }) => type === "tool_call"), false);
    await machine.write("model.yaml", WORKS);
    const again = await machine.remit(["resume", document.task]);
    assert.equal(again.code, 67, again.stderr);
    const told = await eventsOf(machine, document.task);
    assert.equal(told.filter(({ type }) => type === "intake").length, 6);
  });
});

Deno.test("templates are listed and shown, and an answer may have to fit one by its name", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    const listed = await machine.json(["templates", "list", "--json"]) as { name: string }[];
    assert.deepEqual(
      listed.map(({ name }) => name),
      ["intake", "plan", "call_review", "code_review", "handoff"],
    );
    assert.match((await machine.remit(["templates", "show", "plan@1"])).stdout, /"rollback"/);
    assert.equal((await machine.remit(["templates", "show", "plan@9"])).code, 2);
    const { example } = await machine.json(["templates", "show", "handoff", "--json"]) as {
      example: unknown;
    };
    const play = `scenario: hands over
turns:
  - when: { user: { contains: "Your answer does not fit" } }
    say: '${JSON.stringify(example)}'
  - when: { user: { contains: "Hand the work over" } }
    say: '{"artifacts":[]}'
`;
    const model = await playing(machine, play);
    const run = ["run", "-p", "Hand over", "--schema", "template:handoff", ...mount, ...model];
    const done = await machine.remit(run);
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(JSON.parse(done.stdout), example);
    assert.match(done.stderr, /does not fit the schema: verification/);
  });
});

const REASON = {
  why: "You asked for Tuesday; the file says Monday",
  authority: "your folder plans",
  without: "The plan stays wrong",
};

/** Moves the trip, and says why once it was told that its first words do not fit. */
const moves = (reason: string): string => `
scenario: moves the trip
turns:
  - when: { user: { contains: "Your answer does not fit the template call_review" } }
    say: '${reason}'
  - when: { user: { contains: "A person is about to be asked" } }
    say: Because you want it.
  - when: { user: Move it, step: 1 }
    calls: [{ tool: file_edit, args: { path: plans/trip.txt, old: Monday, new: Tuesday } }]
  - when: { user: Move it }
    say: Moved.
`;

Deno.test("alice's question holds why the agent wants it, as its own words; a model that gives no reasons is asked about all the same, and nothing is decided by them", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    const run = ["run", "-p", "Move it", "--reasons", "--on-question", "queue", ...mount];
    const waits = await machine.remit([
      ...run,
      ...await playing(machine, moves(JSON.stringify(REASON))),
    ]);
    assert.equal(waits.code, 75, waits.stderr);
    const [asked] = await machine.json(["questions", "--json"]) as {
      id: string;
      reason?: unknown;
    }[];
    assert.deepEqual(asked?.reason, REASON);
    const answered = await machine.remit(["answer", asked?.id ?? "", "allow"]);
    assert.equal(answered.code, 0, answered.stderr);
    assert.match(answered.stderr, /agent says +in its own words, which nobody checked:/);
    assert.match(answered.stderr, /│ why: You asked for Tuesday; the file says Monday/);
    assert.match(await machine.read("plans/trip.txt"), /Tuesday/);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);

    await machine.write("plans/trip.txt", "Leave on Monday.\n");
    const silent = await machine.remit([...run, ...await playing(machine, moves("I allow it."))]);
    assert.equal(silent.code, 75, silent.stderr);
    const [other] = await machine.json(["questions", "--json"]) as { reason?: unknown }[];
    assert.ok(other !== undefined);
    assert.equal(other.reason, undefined);
    assert.match(await machine.read("plans/trip.txt"), /Monday/);
  });
});
