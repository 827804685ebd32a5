/** bob has nothing running: what he asks starts a kernel, and stop ends it; a whole log is not repaired. */
import assert from "node:assert/strict";
import { heldKernel } from "../fake/held_kernel.ts";
import { onMachine } from "../fake/remit.ts";
import { waitUntil } from "../fake/wait_until.ts";

Deno.test("bob looks at an empty state: everything says that there is nothing, and stop leaves no process", async () => {
  await onMachine(async (machine) => {
    const empty: readonly (readonly [string[], string])[] = [
      [["questions"], "nothing waits for you\n"],
      [["ps"], "no processes\n"],
      [["task", "show"], "no tasks\n"],
      [["lease", "list"], "no leases\n"],
      [["grants"], "no answer of yours holds beyond its question\n"],
      [["outbox", "list"], "the outbox is empty\n"],
      [["audit", "query"], ""],
    ];
    for (const [args, said] of empty) {
      const done = await machine.remit(args);
      assert.deepEqual([done.code, done.stdout], [0, said], args.join(" "));
    }
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
    const repair = await machine.remit(["audit", "repair"]);
    assert.equal(repair.code, 1);
    assert.match(repair.stderr, /it is intact/);
    {
      using _held = await heldKernel(machine);
      assert.match((await machine.remit(["doctor"])).stdout, /kernel +runs/);
    }

    assert.equal((await machine.remit(["stop"])).code, 0);
    await waitUntil("no process of this state", async () => {
      return (await machine.processes()).length === 0 ? true : undefined;
    });
    assert.match((await machine.remit(["doctor"])).stdout, /kernel +none runs/);
  });
});
