/** alice's foreign agent spends her money at its provider: her budgets hold for it as for her own agents. */
import assert from "node:assert/strict";
import { EXIT } from "../../contracts/base/mod.ts";
import { addForeign, handOver, startProvider } from "../fake/foreign_agent.ts";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans } from "../fake/scenes.ts";

/** 1,000 tokens in at 100 USD a million, and 500 out at 1,000: 0.6 USD. */
const PRICE = ["--price", "100/1000"];
const USED = { usage: { input_tokens: 1_000, output_tokens: 500 } };
const ASK = 'ask POST /v1/responses {"model":"m","max_output_tokens":500,"input":[]}';
const config = (money: number, rest = ""): string =>
  `version: 1\nlimits: { money: ${money}, moneyPerMinute: 1000 }\n${rest}`;

Deno.test("what alice's foreign agent asks of its provider is in cost and in the closing, as its provider counts it", async () => {
  await using provider = startProvider(() => Response.json(USED));
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await machine.write("remit.yaml", config(5));
    await machine.remit(["trust"]);
    await addForeign(machine, provider, PRICE);
    const shown = await machine.remit(["agent", "show", "fake"]);
    assert.match(shown.stdout, /price +100\/1000 USD a million tokens in and out/);
    const run = await handOver(machine, [ASK]);
    assert.equal(run.code, 0, run.output);
    const { spent } = readRun(run.document);
    assert.deepEqual([spent.inputTokens, spent.outputTokens], [1_000, 500]);
    assert.ok(Math.abs(spent.money - 0.6) < 1e-9, run.output);
    const { rows, money } = await machine.json(["cost", "--by", "model"]) as {
      rows: readonly { model: string; inferences: number }[];
      money: number;
    };
    assert.ok(Math.abs(money - 0.6) < 1e-9);
    assert.ok(rows.some(({ model }) => model === "fake:m"), JSON.stringify(rows));
  });
});

Deno.test("a foreign agent whose task has no money left is refused at its relay, with the reason, and its work stays", async () => {
  await using provider = startProvider(() => Response.json(USED));
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await machine.write("remit.yaml", config(1));
    await machine.remit(["trust"]);
    await addForeign(machine, provider, PRICE);
    const steps = ["write trip.txt Leave on Tuesday.", ASK, ASK, ASK];
    const run = await handOver(machine, steps, { allow: "plans/trip.txt" });
    assert.equal(run.code, EXIT.budgetExhausted, run.output);
    assert.match(readRun(run.document).reason ?? "", /money/);
    // The second was let through with what was left, and the third was not.
    assert.match(run.answer, /ask: 402 .*Cannot infer: the task's limit .*money.* is used up/);
    assert.equal(provider.asked.length, 2);
    const second = JSON.parse(provider.asked[1]?.body ?? "{}") as { max_output_tokens: number };
    assert.ok(second.max_output_tokens < 500, "its answer is bounded by what is left");
    // What it did till then was reviewed as everything is.
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\n");
  });
});

Deno.test("alice's budget of a day holds for her foreign agent, over two runs", async () => {
  await using provider = startProvider(() => Response.json(USED));
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await machine.write("remit.yaml", config(5, "budgets:\n  - { money: 0.9, per: day }\n"));
    await machine.remit(["trust"]);
    await addForeign(machine, provider, PRICE);
    const first = await handOver(machine, [ASK]);
    assert.equal(first.code, 0, first.output);
    const second = await handOver(machine, [ASK, ASK]);
    assert.match(second.output, /the budget of 0\.9 USD a day is used up/);
    assert.ok(provider.asked.length <= 2, second.output);
  });
});
