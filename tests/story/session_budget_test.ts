/** alice bounds what a session may cost: its conversations pay of one sum, also when her kernel is killed in between. */
import assert from "node:assert/strict";
import { endProcesses } from "../fake/processes.ts";
import { onMachine } from "../fake/remit.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";
import { openTmux } from "../fake/tmux.ts";
import { needs } from "../needs.ts";

/** Each answer costs 0.402 USD, of which 0.4 for its words. */
const PRICED = `
scenario: dear
model: { price: { input: 20, output: 4000 } }
turns:
  - when: { always: true }
    say: It is done.
    usage: { inputTokens: 100, outputTokens: 100 }
`;

const CONFIG = `version: 1
limits: { money: 100, moneyPerMinute: 1000 }
budgets:
  - { money: 0.7, per: session }
`;

Deno.test("alice's third conversation of a session is refused, also after a kill, /cost says why, and another session has its own", async () => {
  if (!needs("tmux")) return;
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await machine.write("remit.yaml", CONFIG);
    await machine.remit(["trust"]);
    const words = [...mount, ...await playing(machine, PRICED)];
    const where = { env: { ...machine.env, NO_COLOR: "1" }, cwd: machine.dir, columns: 160 };
    const screen = await openTmux(machine.command(words), where);
    const ready = async (text: string): Promise<void> => {
      await screen.shows((now) => now.includes(text) && now.at(-1) === "›");
    };
    const enter = async (text: string): Promise<void> => {
      await screen.type(text);
      await screen.press("Enter");
    };
    try {
      await screen.shows((now) => now.at(-1) === "›");
      await enter("One");
      await ready("It is done.");
      await enter("/clear");
      await screen.shows("a new conversation");
      await enter("Two");
      await screen.shows(/the budget of 0\.7 USD a session \(session s\w+\): 0\.804 USD spent/);
      await screen.shows((now) => now.at(-1) === "›");
      await enter("/cost");
      await screen.shows(
        /the budget of 0\.7 USD a session \(session s\w+\): 0\.8040 spent or held/,
      );
      await enter("/exit");
      await screen.shows("ENDED 0");
    } finally {
      await screen.close();
    }
    await endProcesses(machine.state);
    const again = await openTmux(machine.command(["-c", ...words]), where);
    try {
      await again.shows((now) => now.at(-1) === "›");
      await again.type("Three");
      await again.press("Enter");
      await again.shows(/the budget of 0\.7 USD a session \(session s\w+\) is used up/);
      await again.shows("ENDED 66");
    } finally {
      await again.close();
    }
    const other = await machine.remit(["run", "-p", "Four", ...words]);
    assert.equal(other.code, 0, other.stderr);
  });
});

Deno.test("--budget lowers what models may cost, and what is no amount is refused before anything is asked", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    const run = ["run", "-p", "One", ...mount, ...await playing(machine, PRICED)];
    const refused = await machine.remit([...run, "--budget", "much"]);
    assert.match(refused.stderr, /Cannot use --budget "much": write US dollars, as 0\.5 or 20/);
    const small = await machine.remit([...run, "--budget", "0.001"]);
    assert.equal(small.code, 66, small.stderr + small.stdout);
    const enough = await machine.remit([...run, "--budget", "0.45"]);
    assert.equal(enough.code, 0, enough.stderr);
    assert.match(enough.stderr, /the task's limit of 0\.45 USD: 0\.402 USD spent/);
  });
});
