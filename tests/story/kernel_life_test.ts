/** bob has nothing running: what he asks starts a kernel, and stop ends it; a whole log is not repaired. */
import assert from "node:assert/strict";
import { placesOf } from "../../launch/disk/places.ts";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { CONTROL_VERSION } from "../../contracts/wire/mod.ts";
import { disk } from "../../kernel/main_powers.ts";
import { portOverConn } from "../../port/stream_powers.ts";
import { heldKernel } from "../fake/held_kernel.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
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

/** A kernel of an earlier version that lingers in this state: it ends when it is asked to, once nothing is at work. */
async function oldKernel(
  machine: Machine,
  atWork: readonly Json[],
): Promise<{ readonly asked: string[]; close(): void }> {
  const { cwd, env, uid } = { cwd: machine.dir, env: machine.env, uid: Deno.uid() ?? 0 };
  const places = placesOf({ cwd, env: (name) => env[name], uid }, machine.state);
  await Deno.mkdir(places.runtime, { recursive: true, mode: 0o700 });
  const listener = Deno.listen({ transport: "unix", path: places.controlSocket });
  const asked: string[] = [];
  const close = (): void => {
    try {
      listener.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  };
  const welcome = {
    ...{ version: CONTROL_VERSION, harness: "0.0.1-an-earlier-one", pid: Deno.pid },
    ...{ receiptKey: "k", rules: "", head: "0".repeat(64), secrets: "" },
  };
  const answer = (op: string): Json => {
    if (op === "hello") return welcome;
    asked.push(op);
    if (op === "ps") return [...atWork];
    if (op === "questions" || op === "tasks") return [];
    if (op !== "stop") throw new Fault("invalidInput", `Cannot serve "${op}"`);
    if (atWork.length === 0) close();
    return {};
  };
  void (async () => {
    for await (const connection of listener) {
      portOverConn(connection, { handler: { ask: answer, tell: () => undefined } });
    }
  })();
  return { asked, close };
}

Deno.test("bob has a new version: an idle kernel of the old one is replaced at his first command", async () => {
  await onMachine(async (machine) => {
    const old = await oldKernel(machine, []);
    const done = await machine.remit(["questions"]);
    assert.deepEqual([done.code, done.stdout], [0, "nothing waits for you\n"], done.stderr);
    assert.deepEqual(old.asked, ["ps", "stop"], "asked to end, and nothing else");
    using _held = await heldKernel(machine);
    const { kernel } = await machine.json(["doctor"]) as { kernel: { harness: string } };
    assert.doesNotMatch(kernel.harness, /^0\.0\.1-/);
  });
});

Deno.test("bob has a new version while a task of his runs: the old kernel goes on with it, and answers", async () => {
  await onMachine(async (machine) => {
    const old = await oldKernel(machine, [{ pid: 2, task: "t000000000001" }]);
    try {
      const done = await machine.remit(["questions"]);
      assert.deepEqual([done.code, done.stdout], [0, "nothing waits for you\n"], done.stderr);
      assert.ok(old.asked.includes("questions"), String(old.asked));
    } finally {
      old.close();
    }
  });
});

Deno.test("bob logs out: a kernel whose login session is closing, or whose socket is gone, is deserted", async () => {
  await onMachine(async (machine) => {
    const controlSocket = await machine.write("run/control", "");
    const session = await machine.write("sessions/4", "UID=1000\nSTATE=active\nREMOTE=0\n");
    const deserted = (more: object): Promise<boolean> =>
      disk.deserted({ controlSocket, ...more } as Parameters<typeof disk.deserted>[0]);
    assert.equal(await deserted({ session }), false);
    assert.equal(await deserted({}), false, "a machine without login sessions");
    await machine.write("sessions/4", "UID=1000\nSTATE=closing\nREMOTE=0\n");
    assert.equal(await deserted({ session }), true);
    assert.equal(await deserted({ session: `${session}0` }), true, "it is over");
    assert.equal(await deserted({ controlSocket: `${controlSocket}0` }), true);
  });
});
