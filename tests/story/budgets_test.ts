/** alice sees what her models cost, and a budget for the day ends what many small tasks would have spent in sum. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { endProcesses } from "../fake/processes.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";

/** Each run costs 0.402 USD, of which 0.4 for its answer. */
const PRICED = `
scenario: dear
model: { price: { input: 20, output: 4000 } }
turns:
  - say: Done.
    usage: { inputTokens: 100, outputTokens: 100 }
`;

const CONFIG = `version: 1
limits: { moneyPerMinute: 1000 }
budgets:
  - { money: 0.7, per: day }
  - { money: 50, per: month, each: principal }
agents:
  scout: { persona: You are brief. }
`;

Deno.test("alice's third task of the day is refused by the day's budget, also after kill -9, and cost says why", async () => {
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await machine.write("remit.yaml", CONFIG);
    await machine.remit(["trust"]);
    const words = [
      ...["-p", "Hello", ...mount, ...await playing(machine, PRICED), "--json"],
    ];
    const run = (...more: string[]) => machine.remit(["run", ...words, ...more]);
    const first = await run("--agent", "scout");
    assert.equal(first.code, 0, first.stderr + first.stdout);
    const cost = async (...more: string[]) => {
      const told = await machine.remit(["cost", "--json", ...more]);
      assert.equal(told.code, 0, told.stderr);
      return JSON.parse(told.stdout);
    };
    const { money, rows, budgets } = await cost("--by", "agent");
    assert.ok(Math.abs(money - 0.402) < 1e-9, String(money));
    assert.deepEqual([rows[0].agent, rows[0].inferences], ["scout", 1]);
    assert.equal(budgets[0].name, "the budget of 0.7 USD a day");
    assert.ok(Math.abs(budgets[0].spent - 0.402) < 1e-9);

    const second = await run();
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stdout + second.stderr, /Done/);
    await endProcesses(machine.state);
    const third = await run();
    assert.equal(third.code, 66, third.stderr + third.stdout);
    assert.match(JSON.stringify(readRun(third.stdout)), /the budget of 0.7 USD a day is used up/);
    const after = await cost();
    assert.equal(after.rows[0].inferences, 2);
    assert.ok(Math.abs(after.budgets[0].spent - 0.804) < 1e-9, JSON.stringify(after.budgets));
    const table = await machine.remit(["cost", "--by", "principal"]);
    assert.match(
      table.stdout,
      /the budget of 0.7 USD a day: 0.8040 spent or held, 0.0000 left, used up/,
    );
  });
});
