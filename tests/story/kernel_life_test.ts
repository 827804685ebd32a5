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

Deno.test("bob's login is over and its folder for sockets gone: doctor says so, and cron finds the same kernel", async () => {
  await onMachine(async (machine) => {
    const { XDG_RUNTIME_DIR: _session, ...cron } = machine.env;
    const after = { ...cron, XDG_RUNTIME_DIR: "/nowhere/run" };
    const remit = async (env: Record<string, string>, args: readonly string[]): Promise<string> => {
      const [word = "", ...rest] = machine.command(args);
      const done = await new Deno.Command(word, { args: rest, clearEnv: true, env }).output();
      assert.equal(done.code, 0, new TextDecoder().decode(done.stderr));
      return new TextDecoder().decode(done.stdout);
    };
    using held = await heldKernel(machine);
    for (const env of [cron, after]) {
      const { kernel } = JSON.parse(await remit(env, ["doctor", "--json"]));
      assert.equal(typeof kernel?.pid, "number", "the kernel of the other session");
    }
    assert.match(
      await remit(after, ["doctor"]),
      /XDG_RUNTIME_DIR names "\/nowhere\/run": it is not there/,
    );
    held[Symbol.dispose]();
    await machine.remit(["stop"]);
    await remit(after, ["questions"]);
  });
});
