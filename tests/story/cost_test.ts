/** alice bounds what her models may cost in a day, over all tasks, also when her kernel is killed in between. */
import assert from "node:assert/strict";
import * as z from "zod";
import { configured, planned } from "../fake/model_scenes.ts";
import { playing } from "../fake/scenes.ts";
import { onMachine } from "../fake/remit.ts";
import { kill9 } from "../fake/processes.ts";

const Costs = z.object({
  money: z.number(),
  rows: z.array(z.looseObject({ inferences: z.number(), money: z.number() })),
});

const ANSWERS = `
scenario: dear
model: { price: { input: 3000, output: 15000 } }
turns:
  - when: { always: true }
    say: On Monday.
`;

Deno.test("alice's budget of a day holds over tasks and a kill -9, and remit cost says where the money went", async () => {
  await onMachine(async (machine) => {
    const model = await playing(machine, ANSWERS);
    await configured(machine, "limits: { money: 100, moneyPerMinute: 1000 }\n");
    const words = ["run", "-p", "When?", ...await planned(machine), ...model];
    const first = await machine.remit(words);
    assert.equal(first.code, 0, first.stderr);
    const costs = async (by: string): Promise<z.infer<typeof Costs>> =>
      Costs.parse(await machine.json(["cost", "--by", by]));
    const before = await costs("trigger");
    assert.deepEqual(before.rows.map(({ trigger, inferences }) => [trigger, inferences]), [[
      "pipe",
      1,
    ]]);
    assert.ok(before.money > 0);
    // Another request would cost about as much as a small answer: there is no room for it.
    await configured(
      machine,
      `limits: { money: 100, moneyPerMinute: 1000 }\nbudgets:\n  - { per: day, money: ${
        before.money * 1.01
      } }\n`,
    );
    const refused = await machine.remit(words);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /the budget of \S+ USD a day is used up/);
    for (const pid of await machine.processes()) kill9(pid);
    const again = await machine.remit(words);
    assert.match(again.stderr, /the budget of \S+ USD a day is used up/);
    assert.equal((await costs("trigger")).money, before.money, "nothing was asked");
    const { chart } = z.object({
      chart: z.object({
        of: z.literal("USD"),
        times: z.array(z.string()),
        series: z.array(z.object({ name: z.string(), values: z.array(z.number()) })),
      }),
    }).parse(await machine.json(["cost", "--by", "agent", "--chart"]));
    assert.equal(chart.series[0]?.values.reduce((sum, each) => sum + each, 0), before.money);
    const plotted = await machine.remit(["cost", "--chart"]);
    assert.match(plotted.stdout, /^\d{4}-\d\d-\d\d {2}█+ +\d+\.\d{4} USD\n/);
    const shown = await machine.remit(["cost", "--by", "model"]);
    assert.match(shown.stdout, /^MODEL +TURNS +IN +OUT +USD/);
    assert.match(shown.stdout, /since \d{4}-\d\d-\d\d: \d+\.\d{4} USD/);
  });
});
