/** A task runs in one window; alice looks at it, answers it and ends it from another. */
import assert from "node:assert/strict";
import * as z from "zod";
import { type Machine, onMachine } from "../fake/remit.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";
import { openTerminal } from "../fake/terminal.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

const Rows = z.array(z.object({ id: z.string() }));
const Processes = z.array(
  z.object({
    pid: z.number(),
    ppid: z.number().nullable(),
    task: z.string(),
    state: z.string(),
    colour: z.string(),
    os: z.array(z.number()),
  }),
);

const THINKS = `
scenario: thinks
turns:
  - say: I think.
    hang: true
`;

async function thinking(
  machine: Machine,
): Promise<{ run: ReturnType<Machine["start"]>; pid: number }> {
  const words = [...await alicesPlans(machine), ...await playing(machine, THINKS)];
  const run = machine.start(["run", "-p", "Think", ...words]);
  const [row, ...more] = await waitUntil("a running process", async () => {
    const rows = Processes.parse(await machine.json(["ps"]));
    return rows.some(({ state, os }) => state === "running" && os.length > 0) ? rows : undefined;
  });
  assert(row !== undefined && more.length === 0);
  return { run, pid: row.pid };
}

Deno.test("alice answers from a second terminal: the first takes its question back and shows the end", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, MOVES_THE_TRIP)];
    const first = openTerminal(machine.command(["run", "-p", "Move the trip", ...words]), {
      env: machine.env,
      cwd: machine.dir,
    });
    try {
      await first.shows("your answer");
      const [question] = Rows.parse(await machine.json(["questions"]));
      assert(question !== undefined);
      const answered = await machine.remit(["answer", question.id, "allow"]);
      assert.equal(answered.code, 0, answered.stderr);
      assert.equal(await first.ended(), 0, first.screen());
      assert.match(first.screen(), /The trip is on Tuesday now\./);
      assert.equal(first.screen().split("Remit asks").length, 2);
      assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
    } finally {
      await first.close();
    }
  });
});

Deno.test("alice sees a process with ps, stops it, lets it go on, and ends it with SIGTERM", async () => {
  await onMachine(async (machine) => {
    const { run, pid } = await thinking(machine);
    const stateOf = async (): Promise<string | undefined> =>
      Processes.parse(await machine.json(["ps"])).find((row) => row.pid === pid)?.state;

    assert.equal((await machine.remit(["kill", String(pid), "STOP"])).code, 0);
    assert.equal(await stateOf(), "stopped");
    assert.equal((await machine.remit(["kill", String(pid), "CONT"])).code, 0);
    assert.equal(await stateOf(), "running");

    const wrong = await machine.remit(["kill", String(pid), "SIGNONSENSE"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /there is TERM, KILL/);
    assert.equal((await machine.remit(["kill", "4711"])).code, 2, "no such process");

    assert.equal((await machine.remit(["kill", String(pid), "SIGTERM"])).code, 0);
    const done = await run.done;
    assert.equal(done.code, 1, done.stderr);
    assert.match(done.stderr, /cancelled: ended by SIGTERM/);
    assert.equal((await machine.remit(["ps"])).stdout, "no processes\n");
  });
});

Deno.test("alice kills a process that does not want to end, and cancels a task by its name", async () => {
  await onMachine(async (machine) => {
    const { run, pid } = await thinking(machine);
    assert.equal((await machine.remit(["kill", String(pid), "KILL"])).code, 0);
    assert.notEqual((await run.done).code, 0);

    const next = await thinking(machine);
    const [row] = Processes.parse(await machine.json(["ps"]));
    assert(row !== undefined);
    const cancelled = await machine.remit(["task", "cancel", row.task]);
    assert.equal(cancelled.code, 0, cancelled.stderr);
    const done = await next.run.done;
    assert.equal(done.code, 1);
    assert.match(done.stderr, /cancelled by its operator/);
    for (const os of row.os) {
      await waitUntil(`the end of process ${os}`, async () => {
        try {
          await Deno.stat(`/proc/${os}`);
          return undefined;
        } catch {
          return true;
        }
      });
    }
  });
});

Deno.test("alice sets a secret while a task runs: her next run has it, in the same kernel", async () => {
  await onMachine(async (machine) => {
    const { run, pid } = await thinking(machine);
    const set = machine.remit(
      ["secret", "set", "calendar", "--origin", "https://calendar.example", "--header", "x-key"],
      "k-of-alice-1\n",
    );
    assert.match((await set).stderr, /The kernel that runs has it/);
    const answers = await machine.write(
      "answers.yaml",
      "scenario: says\nturns:\n  - say: Hello.\n",
    );
    const next = await machine.remit(["run", "-p", "Hello", "--model", `scripted:${answers}`]);
    assert.deepEqual([next.code, next.stdout], [0, "Hello.\n"], next.stderr);
    const rows = Processes.parse(await machine.json(["ps"]));
    assert.deepEqual(rows.map((row) => row.pid), [pid], "the first task was left alone");
    run.kill("SIGKILL");
    await run.done;
  });
});

Deno.test("a run under other rules waits until the task at work is over, and then runs", async () => {
  await onMachine(async (machine) => {
    const { run } = await thinking(machine);
    const [{ task = "" } = {}] = Processes.parse(await machine.json(["ps"]));
    const answers = await machine.write(
      "answers.yaml",
      "scenario: says\nturns:\n  - say: Hello.\n",
    );
    await Deno.mkdir(`${machine.env["XDG_CONFIG_HOME"]}/remit`, { recursive: true });
    await Deno.writeTextFile(
      `${machine.env["XDG_CONFIG_HOME"]}/remit/remit.yaml`,
      "version: 1\nnever: ['**/*.key']\n",
    );
    const child = new Deno.Command(machine.command([])[0] ?? "", {
      args: machine.command(["run", "-p", "Hello", "--model", `scripted:${answers}`]).slice(1),
      ...{ cwd: machine.dir, clearEnv: true, env: machine.env },
      ...{ stdin: "null", stdout: "piped", stderr: "piped" },
    }).spawn();
    let said = "";
    const heard = (async () => {
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) said += text;
    })();
    await waitUntil(
      "word that it waits",
      () => said.includes(`waits until ${task} has ended`) ? true : undefined,
    );
    assert.equal((await machine.remit(["task", "cancel", task])).code, 0);
    await run.done;
    const [status, out] = await Promise.all([
      child.status,
      new Response(child.stdout).text(),
      heard,
    ]);
    assert.deepEqual([status.code, out], [0, "Hello.\n"], said);
  });
});
