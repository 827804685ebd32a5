/** carol presses Ctrl-C: once to stop what is under way, twice to end the task. */
import assert from "node:assert/strict";
import { type Machine, onMachine } from "../fake/remit.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";
import { openTerminal, type Terminal } from "../fake/terminal.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

const CTRL_C = "\x03";
const BEFORE = "Leave on Monday.\nTake the boat.\n";

/** A model that never comes to an end with its first message, and answers the second. */
const HANGS = `
scenario: hangs
turns:
  - when: { message: 1 }
    say: I think about it.
    hang: true
  - when: { message: 2 }
    say: I am here.
`;

const HANGS_WHEN_TOLD = MOVES_THE_TRIP.replace(
  `say: "I was told: {{ tool.patch_apply }}"`,
  "say: I was told.\n    hang: true",
);

async function terminalOn(
  machine: Machine,
  args: readonly string[],
  scenario: string,
): Promise<Terminal> {
  const words = [...args, ...await alicesPlans(machine), ...await playing(machine, scenario)];
  return openTerminal(machine.command(words), { env: machine.env, cwd: machine.dir });
}

Deno.test("carol interrupts a slow model once: the turn ends, the session and the agent go on", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const terminal = await terminalOn(machine, [], HANGS);
    try {
      await terminal.shows("\n› ");
      await terminal.type("Think\r");
      await terminal.shows("I think about");
      // One press may be delivered many times at once: it counts as one.
      await terminal.type(CTRL_C.repeat(20));
      await terminal.shows("press Ctrl-C again");
      await terminal.shows("\n› ", 2);
      await terminal.type("Are you there\r");
      await terminal.shows("I am here.");
      await terminal.shows("\n› ", 3);
      await terminal.type("/exit\r");
      assert.equal(await terminal.ended(), 0, terminal.screen());
    } finally {
      await terminal.close();
    }
  });
});

Deno.test("carol interrupts a question: nothing is allowed, and the agent is told that it was cancelled", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const terminal = await terminalOn(machine, ["run", "-p", "Move the trip"], MOVES_THE_TRIP);
    try {
      await terminal.shows("your answer");
      await terminal.type(CTRL_C.repeat(20));
      // What is staged is put to her once more when the task would end.
      await terminal.shows("your answer", 2);
      await terminal.type("\r");
      assert.equal(await terminal.ended(), 0);
      assert.match(terminal.screen(), /I was told: [^\n]*cancelled/);
      assert.equal(await machine.read("plans/trip.txt"), BEFORE);
    } finally {
      await terminal.close();
    }
  });
});

Deno.test("carol interrupts twice: the task ends with 130, and nothing of it runs on", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    const terminal = await terminalOn(machine, ["run", "-p", "Move the trip"], HANGS_WHEN_TOLD);
    try {
      await terminal.shows("your answer");
      await terminal.type(CTRL_C);
      await terminal.shows("cancelled");
      // Pressed until it is the second that counts: presses close to the first are the first.
      await waitUntil("the end", async () => {
        if (terminal.over()) return true;
        await terminal.type(CTRL_C);
        return undefined;
      });
      assert.equal(await terminal.ended(), 130, terminal.screen());
      assert.equal(await machine.read("plans/trip.txt"), BEFORE);
      const shown = await machine.remit(["task", "show"]);
      assert.match(shown.stdout, /cancelled/);
      assert.equal((await machine.remit(["ps"])).stdout, "no processes\n");
    } finally {
      await terminal.close();
    }
  });
});

Deno.test("carol's script is interrupted without a terminal: the run ends with 130 and its task is cancelled", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, HANGS)];
    const run = machine.start(["run", "-p", "Think", ...words]);
    await waitUntil("a running process", async () => {
      const { stdout } = await machine.remit(["ps"]);
      return /running/.test(stdout) ? stdout : undefined;
    });
    run.kill("SIGINT");
    const done = await run.done;
    assert.equal(done.code, 130, done.stderr);
    assert.match((await machine.remit(["task", "show"])).stdout, /cancelled/);
  });
});

Deno.test("carol's script is ended by SIGTERM, sent to the process and to its group: one signal, which is named", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, HANGS)];
    const run = machine.start(["run", "-p", "Think", ...words]);
    await waitUntil("a running process", async () => {
      const { stdout } = await machine.remit(["ps"]);
      return /running/.test(stdout) ? stdout : undefined;
    });
    run.kill("SIGTERM");
    run.kill("SIGTERM");
    const done = await run.done;
    assert.equal(done.code, 130, done.stderr);
    const shown = await machine.remit(["task", "show", "last"]);
    assert.match(shown.stdout, /ended by SIGTERM/);
    assert.doesNotMatch(`${shown.stdout}${done.stderr}`, /twice/);
  });
});
