/** alice takes changes back: exactly, also new and deleted files, and never over her own later work. */
import assert from "node:assert/strict";
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

Deno.test("alice worked on after the change: undo reports the conflict and leaves her words alone", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, CHANGES_THREE)];
    await machine.write("plans/old.txt", "old\n");
    await machine.write("answers.json", ALLOW);
    const done = await machine.remit([
      "run",
      "-p",
      "Change",
      "--answers",
      "answers.json",
      "--json",
      ...words,
    ]);
    const run = readRun(done.stdout);
    await machine.write("plans/trip.txt", "Leave on Tuesday, says alice.\n");
    const undone = await machine.remit(["undo", run.task]);
    assert.equal(undone.code, 1);
    assert.match(undone.stdout, /conflict +plans\/trip\.txt/);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday, says alice.\n");
    assert.equal(await machine.read("plans/new/list.txt"), "tent\n", "all of it or nothing");

    await Deno.rename(`${machine.dir}/plans`, `${machine.dir}/theirs`);
    await Deno.symlink(`${machine.dir}/theirs`, `${machine.dir}/plans`);
    const led = await machine.remit(["undo", run.task]);
    assert.notEqual(led.code, 0);
    assert.match(led.stderr, /leads to ".*\/theirs" now/, "another folder in its place is not its");
  });
});
