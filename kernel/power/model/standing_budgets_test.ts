import fc from "fast-check";
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { Fault } from "../../../contracts/base/mod.ts";
import { SpendingBudget } from "../../../contracts/task/mod.ts";
import type { Payer, Spent } from "../../core/log/spending.ts";
import { periodOf } from "./budget_words.ts";
import { makeStandingBudgets } from "./standing_budgets.ts";

const NOON = Date.UTC(2026, 10, 27, 12);
const DAY = 86_400_000;
const alice: Payer = { principal: "operator", agent: "scout", trigger: "terminal" };
const clock: Payer = { principal: "schedule:often", agent: "agent", trigger: "schedule" };

/** A hand-turned clock and the budgets under it. */
function world(budgets: readonly SpendingBudget[]) {
  let at = NOON;
  const made = makeStandingBudgets(budgets, { now: () => at });
  return { made, turnTo: (to: number): void => void (at = to) };
}

const spent = (at: number, money: number, open = false): Spent => ({
  ...{ at, money, open, task: "t1", model: "m", child: undefined, inputTokens: 1, outputTokens: 1 },
});

async function* each(list: readonly Spent[]): AsyncGenerator<Spent> {
  yield* list;
}

Deno.test("a schedule's many tasks have one sum, each schedule its own, and nobody else pays of it", () => {
  const { made } = world([{ money: 1, per: "day", trigger: "schedule", each: "principal" }]);
  made.of(clock).book(0.4);
  made.of({ ...clock, agent: "scout" }).book(0.5);
  ok(Math.abs(made.of(clock).left() - 0.1) < 1e-9);
  equal(made.of({ ...clock, principal: "schedule:other" }).left(), 1);
  equal(made.of(alice).left(), Infinity);
  throws(
    () => made.of(clock).check(0.2),
    (error) =>
      error instanceof Fault && error.code === "budgetExhausted" &&
      error.message.includes(
        "the budget of 1 USD a day for principal schedule:often, trigger schedule is used up (0.9 USD spent, 0.2 USD under way)",
      ),
  );
  made.of(clock).check(0.05);
});

Deno.test("a budget of one agent holds for that agent alone, one of all for all of them", () => {
  const { made } = world([
    { money: 1, per: "month", agent: "scout" },
    { money: 5, per: "month" },
  ]);
  equal(made.of(alice).left(), 1);
  equal(made.of({ ...alice, agent: "smith" }).left(), 5);
  made.of({ ...alice, agent: "smith" }).book(4.5);
  equal(made.of(alice).left(), 0.5);
});

Deno.test("a day's sum is over at midnight and a month's is not", async () => {
  const { made, turnTo } = world([{ money: 1, per: "day" }, { money: 10, per: "month" }]);
  made.of(alice).book(1);
  equal(made.of(alice).left(), 0);
  turnTo(periodOf("day", NOON).to);
  equal(made.of(alice).left(), 1);
  equal((await made.standings()).find(({ per }) => per === "month")?.spent, 1);
  turnTo(periodOf("month", NOON).to);
  deepEqual((await made.standings()).map(({ spent }) => spent), [0, 0]);
});

Deno.test("people are told once, before the budget is used up, and how long it lasts", () => {
  const { made } = world([{ money: 1, per: "day" }]);
  const account = made.of(alice);
  deepEqual(account.book(0.5), []);
  const [near] = account.book(0.35);
  equal(near?.name, "the budget of 1 USD a day");
  ok(near.spent < near.most);
  // Half a day for 0.85: at that pace 1 lasts 0.5 / 0.85 of a day.
  equal(Math.round(near.outAt ?? 0), Math.round(NOON + (DAY / 2) * (1 / 0.85 - 1)));
  deepEqual(account.book(0.05), []);
});

Deno.test("after a kill, what was paid and what was asked without an end both count, each on its day", async () => {
  const { made } = world([{ money: 10, per: "day" }, { money: 100, per: "month" }]);
  await made.seed(
    each([spent(NOON - 1_000, 3, true), spent(NOON - 2_000, 2), spent(NOON - DAY, 40)]),
    () => undefined,
  );
  equal(made.of(alice).left(), 5);
  equal((await made.standings())[1]?.spent, 45);
});

Deno.test("requests under way at once never hold more than there is, in any order", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.record({ money: fc.integer({ min: 1, max: 50 }), ends: fc.boolean() })),
    async (requests) => {
      const { made } = world([{ money: 1, per: "day" }, { money: 0.7, per: "month" }]);
      const account = made.of(alice);
      const open: (() => void)[] = [];
      let paid = 0;
      for (const { money, ends } of requests) {
        const cost = money / 100;
        if (cost <= account.left()) {
          account.check(cost);
          const release = await account.hold(cost);
          ok(release);
          if (ends) {
            account.book(cost);
            paid += cost;
            release();
            release();
          } else open.push(release);
        }
        ok(paid <= 0.7 + 1e-9);
      }
      for (const release of open) release();
      ok(Math.abs(account.left() - (0.7 - paid)) < 1e-6);
      equal(account.busy(), false);
    },
  ));
});

Deno.test("a budget of an unknown period, of less than nothing or of each of nothing is refused", () => {
  equal(SpendingBudget.safeParse({ money: -1, per: "day" }).success, false);
  equal(SpendingBudget.safeParse({ money: 1, per: "week" }).success, false);
  equal(SpendingBudget.safeParse({ money: 1, per: "day", each: "task" }).success, false);
});
