/** Two kernels spend of one budget. One is killed with kill -9 while its model is asked: what that may cost stays counted. */
import assert from "node:assert/strict";
import { isObject } from "../../contracts/base/mod.ts";
import { NO_POLICY } from "../../contracts/policy/mod.ts";
import { fleetVerifies, inFleet, until } from "../fake/fleet.ts";
import type { LiveKernel } from "../fake/kernel.ts";

/** Each answer costs 0.402 USD; a request holds what is left, at most. */
const priced = (turn: string): string => `
scenario: dear
model: { price: { input: 20, output: 4000 } }
turns:
  - ${turn}
    usage: { inputTokens: 100, outputTokens: 100 }
`;
const DONE = priced("say: Done."), HANGS = priced("hang: true");
const POLICY = { ...NO_POLICY, budgets: [{ per: "month", money: 0.7 } as const] };
const LIMITS = { money: 10, moneyPerMinute: 1_000 };

interface Standing {
  readonly spent: number;
  readonly held: number;
}
async function standing(kernel: LiveKernel): Promise<Standing> {
  const [row] = await kernel.ask("budgets", null) as unknown as readonly Standing[];
  assert.ok(row);
  return row;
}
const near = (is: number, wanted: number): void =>
  assert.ok(Math.abs(is - wanted) < 1e-6, `${is} is not ${wanted}`);

Deno.test("one budget over two kernels, one of them killed while it spends", async () => {
  await inFleet(2, async ({ homes: [one, two], query }) => {
    assert.ok(one && two);
    const [doomed, other] = [await one.start(), await two.start()];
    const draft = { scenario: DONE, mounts: [], limits: LIMITS };
    const first = await doomed.follow(await doomed.run(draft), { answer: "leave" });
    assert.equal((await first.end).status, "done");
    await until("what it paid", async () => {
      const { spent, held } = await standing(other);
      return spent > 0 && held === 0 ? true : undefined;
    });
    near((await standing(other)).spent, 0.402);

    // It holds the rest, and is killed before an answer came.
    await doomed.run({ ...draft, scenario: HANGS });
    await until("what it holds", async () => {
      const { held } = await standing(other);
      return held > 0.29 ? true : undefined;
    });
    // The other waits for what is held, and is not refused while that may be let go of.
    const waits = await other.run(draft);
    const following = await other.follow(waits, { answer: "leave" });
    await doomed.kill();
    const end = await following.end;
    assert.notEqual(end.status, "done", "it would be more than the budget has");
    const task = await other.ask("task", { task: waits });
    assert.match(JSON.stringify(task), /the budget of 0.7 USD a month is used up/);
    const [sum] = await query("SELECT spent, held FROM remit.sums_now");
    assert.ok(Number(sum?.["spent"]) <= 0.7 + 1e-6, JSON.stringify(sum));
    assert.equal(Number(sum?.["held"]), 0);

    // Back again, it finds the sum as it is, and adds nothing of its own log to it.
    const again = await one.start();
    near((await standing(again)).spent, Number(sum?.["spent"]));
    const costs = await again.ask("view", {
      ...{ op: "costs", body: { since: 0 }, by: "carol", profile: "guest" },
    });
    const rows = Array.isArray(costs) ? costs.filter(isObject) : [];
    near(rows.reduce((all, { money }) => all + Number(money), 0), 0.402);
    await fleetVerifies(again);
  }, { policy: POLICY });
});
