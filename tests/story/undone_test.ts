/** alice takes changes back: exactly, also new and deleted files, and never over her own later work. */
import assert from "node:assert/strict";
import * as z from "zod";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";

const CHANGES_THREE = `
scenario: changes three
turns:
  - calls:
      - { tool: file_edit, args: { path: plans/trip.txt, old: Monday, new: Tuesday } }
      - { tool: file_write, args: { path: plans/new/list.txt, content: "tent\\n" } }
      - { tool: file_delete, args: { path: plans/old.txt } }
  - say: All three.
`;
const Waiting = z.array(z.object({ id: z.string() }));
const ALLOW = '{"answers":[{"tool":"patch_apply","path":"plans","answer":"allow"}]}';

Deno.test("alice undoes a change of three files, and the folder is byte for byte as it was", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, CHANGES_THREE)];
    // Bytes that are no text must come back, too.
    const bytes = Uint8Array.of(0xff, 0xfe, 0x00, 0x0a, 0x80);
    await Deno.writeFile(`${machine.dir}/plans/old.txt`, bytes);
    await Deno.chmod(`${machine.dir}/plans/old.txt`, 0o640);
    await machine.write("answers.json", ALLOW);
    // Nobody proposes the patch: it is put together and asked about when the task would end.
    const done = await machine.remit([
      "run",
      "-p",
      "Change",
      "--answers",
      "answers.json",
      "--json",
      ...words,
    ]);
    assert.equal(done.code, 0, done.stderr);
    const run = readRun(done.stdout);
    assert.deepEqual(
      run.changes.map(({ path, kind, state }) => [path, kind, state]).sort(),
      [
        ["plans/new/list.txt", "added", "applied"],
        ["plans/old.txt", "deleted", "applied"],
        ["plans/trip.txt", "changed", "applied"],
      ],
    );
    assert.equal(await machine.read("plans/new/list.txt"), "tent\n");
    await assert.rejects(machine.read("plans/old.txt"), Deno.errors.NotFound);

    const undone = await machine.remit(["undo", run.task]);
    assert.equal(undone.code, 0, undone.stderr);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    assert.deepEqual(await Deno.readFile(`${machine.dir}/plans/old.txt`), bytes);
    assert.equal(((await Deno.stat(`${machine.dir}/plans/old.txt`)).mode ?? 0) & 0o777, 0o640);
    await assert.rejects(machine.read("plans/new/list.txt"), Deno.errors.NotFound);
    const again = await machine.remit(["undo", run.task]);
    assert.equal(again.code, 2);
    assert.match(again.stderr, /it applied nothing that still stands/);
  });
});

Deno.test("of what a task applied in several patches, undo takes back the newest and says what stands", async () => {
  await onMachine(async (machine) => {
    const apply = { tool: "patch_apply", args: {} };
    const write = (content: string) => ({
      tool: "file_write",
      args: { path: "plans/trip.txt", content },
    });
    const play = {
      scenario: "three patches",
      turns: [
        ...["one\n", "two\n", "three\n"].map((text) => ({ calls: [write(text), apply] })),
        { say: "Done." },
      ],
    };
    const words = [...await alicesPlans(machine), ...await playing(machine, JSON.stringify(play))];
    await machine.write("answers.json", ALLOW.replace('allow"', 'allow","max":3'));
    const asked = ["run", "-p", "Change", "--answers", "answers.json", "--json", ...words];
    const { task } = readRun((await machine.remit(asked)).stdout);
    const first = await machine.remit(["undo", task]);
    assert.equal(await machine.read("plans/trip.txt"), "two\n");
    assert.match(first.stdout, /^still there: 2 older patches .*; undo again takes the next one/m);

    await machine.write("plans/trip.txt", "alice's own\n");
    const second = await machine.remit(["undo", task]);
    assert.equal(second.code, 1);
    assert.match(second.stdout, /^still there: 1 older patch of this task$/m);

    await machine.write("plans/trip.txt", "two\n");
    const third = await machine.remit(["undo", task, "--json"]);
    assert.deepEqual(JSON.parse(third.stdout), {
      undone: ["plans/trip.txt"],
      conflicts: [],
      standing: 1,
    });
    const last = await machine.remit(["undo", task]);
    assert.equal(last.stdout, "undone    plans/trip.txt\n");
  });
});

Deno.test("alice worked on after the change: the other files are undone, hers stays until she moves it away", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, CHANGES_THREE)];
    await machine.write("plans/old.txt", "old\n");
    await machine.write("answers.json", ALLOW);
    const asked = ["run", "-p", "Change", "--answers", "answers.json", "--json", ...words];
    const { task } = readRun((await machine.remit(asked)).stdout);
    await machine.write("plans/trip.txt", "Leave on Tuesday, says alice.\n");
    const undone = await machine.remit(["undo", task]);
    assert.equal(undone.code, 1);
    assert.match(undone.stdout, /^undone +plans\/new\/list\.txt$/m);
    assert.match(undone.stdout, /^undone +plans\/old\.txt$/m);
    assert.match(undone.stdout, /^conflict +plans\/trip\.txt: changed since; left as it is$/m);
    assert.match(undone.stdout, /then: .*undo t\w+ .*--file plans\/trip\.txt$/m);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday, says alice.\n");
    assert.equal(await machine.read("plans/old.txt"), "old\n");
    await assert.rejects(machine.read("plans/new/list.txt"), Deno.errors.NotFound);
    const diff = await machine.remit(["diff", task]);
    assert.match(diff.stdout, /^plans\/trip\.txt .*applied/m);
    assert.doesNotMatch(diff.stdout, /old\.txt|list\.txt/, "what was undone stands no more");

    const other = await machine.remit(["undo", task, "--file", "plans/old.txt"]);
    assert.match(other.stderr, /Cannot undo "plans\/old\.txt": .* applied nothing to it/);
    // Another kernel knows it from the log.
    await machine.remit(["stop"]);
    await Deno.rename(`${machine.dir}/plans/trip.txt`, `${machine.dir}/plans/hers.txt`);
    const plain = await machine.remit(["undo", task]);
    assert.match(
      plain.stdout,
      /^conflict +plans\/trip\.txt: it is gone; left as it is\nnothing was/m,
    );
    const named = await machine.remit(["undo", task, "--file", "plans/trip.txt"]);
    assert.equal(named.stdout, "undone    plans/trip.txt\n", named.stderr);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    assert.equal(await machine.read("plans/hers.txt"), "Leave on Tuesday, says alice.\n");
    const again = await machine.remit(["undo", task]);
    assert.match(again.stderr, /it applied nothing that still stands/);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});

Deno.test("where a folder stands in a file's place, a link in a folder's, the rest is undone and each is told", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, CHANGES_THREE)];
    await machine.write("plans/old.txt", "old\n");
    await machine.write("answers.json", ALLOW);
    const asked = ["run", "-p", "Change", "--answers", "answers.json", "--json", ...words];
    const { task } = readRun((await machine.remit(asked)).stdout);
    await Deno.remove(`${machine.dir}/plans/trip.txt`);
    await Deno.mkdir(`${machine.dir}/plans/trip.txt`);
    await Deno.rename(`${machine.dir}/plans/new`, `${machine.dir}/elsewhere`);
    await Deno.symlink(`${machine.dir}/elsewhere`, `${machine.dir}/plans/new`);
    const undone = await machine.remit(["undo", task]);
    assert.equal(undone.code, 1, undone.stderr);
    assert.match(undone.stdout, /^undone +plans\/old\.txt$/m);
    assert.match(
      undone.stdout,
      /^conflict +plans\/trip\.txt: something else than a file is there/m,
    );
    assert.match(undone.stdout, /^conflict +plans\/new\/list\.txt: links are not written through/m);
    assert.equal(await machine.read("elsewhere/list.txt"), "tent\n");

    await Deno.rename(`${machine.dir}/plans`, `${machine.dir}/theirs`);
    await Deno.symlink(`${machine.dir}/theirs`, `${machine.dir}/plans`);
    const led = await machine.remit(["undo", task]);
    assert.notEqual(led.code, 0);
    assert.match(led.stderr, /leads to ".*\/theirs" now/, "another folder in its place is not its");
  });
});

const STAGES_TWO = `
scenario: stages two
turns:
  - calls:
      - { tool: file_edit, args: { path: plans/trip.txt, old: Monday, new: Tuesday } }
      - { tool: file_write, args: { path: plans/list.txt, content: "tent\\n" } }
  - calls: [{ tool: patch_apply }]
  - say: I tried.
`;

Deno.test("alice allows a change that her folder cannot take: asked once, 72, and resume applies it", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, STAGES_TWO)];
    const run = readRun((await machine.remit(["run", "-p", "Move", "--json", ...words])).stdout);
    assert.equal(run.exit, 75);
    await machine.write("plans/trip.txt", "alice's own words\n");
    const [question] = Waiting.parse(await machine.json(["questions"]));
    const answered = await machine.remit(["answer", question?.id ?? "", "allow"]);
    assert.equal(answered.code, 72, answered.stderr);
    assert.match(answered.stderr, /staged changes were not applied: .*trip\.txt" changed/);
    assert.match(answered.stderr, /to go on: .*resume t/);
    assert.deepEqual(await machine.json(["questions"]), [], "a change that cannot be made");
    assert.equal(await machine.read("plans/trip.txt"), "alice's own words\n");

    const stuck = await machine.remit(["resume", run.task]);
    assert.equal(stuck.code, 72, "nothing changed");
    assert.deepEqual(await machine.json(["questions"]), []);
    await machine.write("plans/trip.txt", "Leave on Monday.\nTake the boat.\n");
    const resumed = await machine.remit(["resume", run.task]);
    assert.equal(resumed.code, 75, resumed.stderr);
    const [anew] = Waiting.parse(await machine.json(["questions"]));
    assert.equal((await machine.remit(["answer", anew?.id ?? "", "allow"])).code, 0);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
    assert.equal(await machine.read("plans/list.txt"), "tent\n");
  });
});
