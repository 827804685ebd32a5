/** No room for the log: nothing happens, it is said, and it goes on once there is room. */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { inHome, type KernelHome } from "../fake/kernel.ts";
import { EDITS, isAfter, isBefore, makeDesk } from "./desk.ts";
import { verifies } from "./nothing_lost.ts";
import { REFUSING_DEVICE, type SmallDisk, TINY_FILE_SYSTEM } from "./small_disk.ts";

function isFull(error: unknown): boolean {
  assert.ok(error instanceof Fault, String(error));
  assert.equal(error.code, "storeFull", error.message);
  assert.match(error.message, /^Cannot .*: .*(full|does not take it)/);
  return true;
}

async function onDisk(disk: SmallDisk, f: (home: KernelHome) => Promise<void>): Promise<void> {
  if (!await disk.usable()) return;
  await inHome(async (home) => {
    await makeDesk(home.desk);
    await f(home);
  }, { wrap: disk.wrap });
}

/** The model takes its time before the second answer. */
const SLOW = EDITS.replace(
  "  - calls: [{ tool: patch_apply }]",
  "$& \n    stream: { firstMs: 3000 }",
);

for (const disk of [TINY_FILE_SYSTEM, REFUSING_DEVICE]) {
  Deno.test(`${disk.name}: an answer and a new task are refused, nothing is applied, and room mends it`, async () => {
    await onDisk(disk, async (home) => {
      const kernel = await home.start();
      const small = { pid: kernel.pid, state: home.state };
      const task = await kernel.run({ scenario: EDITS });
      const following = await kernel.follow(task, { answer: "leave" });
      await following.first(({ event }) => event === "questionAsked");
      const [question] = await kernel.questions(task);
      assert.ok(question);

      await disk.fill(small);
      await assert.rejects(kernel.answer(question, "allow"), isFull);
      await assert.rejects(kernel.run({ scenario: EDITS, request: "another" }), isFull);
      await isBefore(home.desk);
      assert.deepEqual(await kernel.questions(task), [question], "the question still waits");
      assert.equal((await kernel.ask("tasks", {}) as unknown[]).length, 1, "no half of a task");

      await disk.makeRoom(small);
      await kernel.answer(question, "allow");
      assert.deepEqual(await following.end, { status: "done", exit: 0 });
      await isAfter(home.desk);
      await verifies(kernel, kernel.head);
    });
  });

  Deno.test(`${disk.name}: a task at work stops, says why, and goes on when it is resumed`, async () => {
    await onDisk(disk, async (home) => {
      const kernel = await home.start();
      const small = { pid: kernel.pid, state: home.state };
      const task = await kernel.run({ scenario: SLOW });
      const following = await kernel.follow(task, { answer: "allow" });
      await following.first(({ event, body }) => event === "outcome" && body["call"] === "call_3");
      await disk.fill(small);
      assert.deepEqual(await following.end, { status: "open", exit: 1 });
      const stopped = AgentTask.parse(await kernel.ask("task", { task }));
      assert.match(stopped.reason ?? "", /full|does not take it/);
      assert.deepEqual(await kernel.ask("ps", null), [], "no process is left of it");
      await isBefore(home.desk);
      following.close();

      await disk.makeRoom(small);
      await kernel.ask("resume", { task });
      const resumed = await kernel.follow(task, { answer: "allow" });
      assert.deepEqual(await resumed.end, { status: "done", exit: 0 });
      await isAfter(home.desk);
      await verifies(kernel, kernel.head);
    });
  });
}
