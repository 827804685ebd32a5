/** kill -9 of the kernel takes every process with it, and the next kernel goes on. */
import assert from "node:assert/strict";
import { descendants, stillRunning } from "../fake/processes.ts";
import { inHome, type KernelHome } from "../fake/kernel.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { EDITS, isAfter, makeDesk } from "./desk.ts";

/** A worker that never lets go of its processor once it has had a word with the model. */
const SPINS = `(() => ({
  async turn(ports) {
    const { id } = await ports.advertise();
    await ports.call(id, { id: "look", name: "file_list", arguments: '{"path":"desk"}' });
    for (;;);
  },
}))()`;

/** Kills the kernel of a task that stands at its first event of a kind, and counts who is left. */
async function killAt(
  home: KernelHome,
  task: { readonly program?: string; readonly scenario: string },
  event: string,
): Promise<void> {
  const kernel = await home.start();
  const following = await kernel.follow(await kernel.run(task), { answer: "leave" });
  await following.first((told) => told.event === event);
  const family = await descendants(kernel.pid);
  const programs = family.map(({ command }) => command);
  for (const program of ["worker.js", "model.js", "toolhost.js"]) {
    assert.ok(programs.some((line) => line.includes(program)), `a ${program} runs before`);
  }
  await kernel.kill();
  await waitUntil(
    "every child of the killed kernel ends",
    async () => (await stillRunning(family)).length === 0 ? true : undefined,
  );
}

Deno.test("no process outlives a kernel that was killed while a person was asked", async () => {
  await inHome(async (home) => {
    await makeDesk(home.desk);
    await killAt(home, { scenario: EDITS }, "questionAsked");
    const next = await home.start();
    const [task] = await next.ask("tasks", {}) as unknown as { id: string }[];
    assert.ok(task);
    const after = await next.follow(task.id as never, { answer: "allow" });
    assert.deepEqual(await after.end, { status: "done", exit: 0 });
    await isAfter(home.desk);
  });
});

Deno.test("mallory's spinning worker does not outlive a killed kernel, and starts anew with the next", async () => {
  await inHome(async (home) => {
    await makeDesk(home.desk);
    await killAt(home, { scenario: EDITS, program: SPINS }, "outcome");
    const next = await home.start();
    const [task] = await next.ask("tasks", {}) as unknown as { id: string; status: string }[];
    assert.equal(task?.status, "open");
    const after = await next.follow(task?.id as never, { answer: "leave" });
    await after.first(({ event }) => event === "recovered");
    await waitUntil(
      "the worker of the resumed task spins",
      async () =>
        (await next.ask("ps", null) as unknown as { os: number[] }[]).some(({ os }) =>
            os.length > 0
          )
          ? true
          : undefined,
    );
    await next.ask("cancel", { task: task?.id });
    assert.equal((await after.end).status, "cancelled");
  });
});
