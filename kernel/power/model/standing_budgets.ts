/**
 * Budgets over many tasks: US dollars for a day or a month, of all together or of each principal, agent or trigger.
 * The sums are those of the log, so that a kernel that was killed changes none of them; what its requests under way
 * may have cost counts as held until their day or month is over.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { SpendingBudget } from "../../../contracts/policy/policy.ts";
import type { BudgetStanding } from "../../../contracts/task/spending.ts";
import {
  dayOf,
  type FindTask,
  type Payer,
  payerOf,
  type Spent,
  spentSince,
} from "../../core/log/spending.ts";
import type { Store } from "../../../contracts/task/store.ts";

/** What budgets may be of. */
const NAMES = ["agent", "principal", "trigger"] as const;
/** Part of a budget from which on people are told that it runs out. */
const NEAR = 0.8;
/** Part of a day or month before which nothing is said of how it goes on. */
const TOO_EARLY = 0.02;

/** What one spender has in all budgets that hold for it. */
export interface Account {
  /** US dollars that nobody spent or holds; never below 0. */
  left(): number;
  /** Throws `budgetExhausted` where this many US dollars more do not fit, naming the budget. */
  check(money: number): void;
  /** Holds them for a request under way, until what is returned is called. */
  hold(money: number): () => void;
  /** Counts what was paid, whether or not it fits. The budgets that this brought near their end: tell people, once. */
  book(money: number): readonly BudgetStanding[];
  /** Others hold some of it. */
  busy(): boolean;
  /** Resolves when somebody lets go of what they held. */
  freed(): Promise<void>;
}

/** All of them. */
export interface StandingBudgets {
  of(payer: Payer): Account;
  /** Counts what the log says of this month, before the first request. */
  seed(spent: AsyncIterable<Spent>, find: FindTask): Promise<void>;
  /** How each stands, those of which something was spent. */
  standings(): readonly BudgetStanding[];
}

interface Sum {
  spent: number;
  held: number;
  told: boolean;
}

/** When the day or month of a time begins and ends, UTC. */
export function periodOf(
  per: SpendingBudget["per"],
  now: number,
): { readonly from: number; readonly to: number } {
  const at = new Date(now);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  return per === "day"
    ? { from: Date.UTC(year, month, day), to: Date.UTC(year, month, day + 1) }
    : { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
}

/** Makes them: nothing is spent. */
export function makeStandingBudgets(
  budgets: readonly SpendingBudget[],
  { now }: Pick<Powers, "now">,
): StandingBudgets {
  const sums = new Map<string, Sum>();
  let freed = Promise.withResolvers<void>();

  /** Whose sum of a budget a payer's payments count in; undefined where it does not hold for them. */
  const holderOf = (budget: SpendingBudget, payer: Payer): string | undefined => {
    const covers = NAMES.every((name) =>
      budget[name] === undefined || budget[name] === payer[name]
    );
    return covers ? (budget.each === undefined ? "" : payer[budget.each]) : undefined;
  };
  const keyOf = (budget: SpendingBudget, of: string, at: number): string =>
    JSON.stringify([budgets.indexOf(budget), dayOf(periodOf(budget.per, at).from), of]);
  const sumAt = (key: string): Sum => {
    const sum = sums.get(key) ?? { spent: 0, held: 0, told: false };
    sums.set(key, sum);
    return sum;
  };
  /** Each budget that holds for a spender now, and its sum. */
  const holding = (
    payer: Payer,
    at = now(),
  ): readonly { readonly budget: SpendingBudget; readonly of: string; readonly sum: Sum }[] =>
    budgets.flatMap((budget) => {
      const of = holderOf(budget, payer);
      return of === undefined ? [] : [{ budget, of, sum: sumAt(keyOf(budget, of, at)) }];
    });
  const standing = (budget: SpendingBudget, of: string, sum: Sum): BudgetStanding => {
    const at = now();
    const { from, to } = periodOf(budget.per, at);
    const { spent, held } = sum;
    const gone = (at - from) / (to - from);
    const outAt = spent === 0 || gone < TOO_EARLY
      ? Infinity
      : from + (at - from) * budget.money / spent;
    return {
      ...{ name: wordsOf(budget, of), per: budget.per, money: budget.money },
      ...{ spent, held, endsAt: to },
      ...(outAt < to ? { outAt: Math.max(at, outAt) } : {}),
    };
  };

  return Object.freeze<StandingBudgets>({
    of: (payer) =>
      Object.freeze<Account>({
        left: () =>
          holding(payer).reduce(
            (least, { budget, sum }) =>
              Math.max(0, Math.min(least, budget.money - sum.spent - sum.held)),
            Infinity,
          ),
        check(money): void {
          for (const { budget, of, sum } of holding(payer)) {
            if (sum.spent + sum.held + money <= budget.money) continue;
            const why = `${wordsOf(budget, of)} is used up (${rounded(sum.spent)} spent, ${
              rounded(sum.held + money)
            } under way)`;
            throw new Fault(
              "budgetExhausted",
              `Cannot infer: ${why}; raise it in "budgets" of remit.yaml, or wait for the next ${budget.per}`,
              { detail: { budget: why } },
            );
          }
        },
        hold(money) {
          // Of the day in which it was asked: the same sums are let go of, whatever the clock says then.
          const all = holding(payer);
          for (const { sum } of all) sum.held += money;
          let open = true;
          return () => {
            if (!open) return;
            open = false;
            for (const { sum } of all) sum.held = Math.max(0, sum.held - money);
            freed.resolve();
            freed = Promise.withResolvers();
          };
        },
        book(money): readonly BudgetStanding[] {
          return holding(payer).flatMap(({ budget, of, sum }) => {
            sum.spent += money;
            if (money === 0 || sum.told || sum.spent < budget.money * NEAR) return [];
            sum.told = true;
            return [standing(budget, of, sum)];
          });
        },
        busy: () => holding(payer).some(({ sum }) => sum.held > 1e-12),
        freed: () => freed.promise,
      }),
    async seed(spent, find): Promise<void> {
      if (budgets.length === 0) return;
      for await (const { at, task, child, money, open } of spent) {
        for (const { budget, sum } of holding(payerOf(find(task), child), at)) {
          // What a killed kernel asked for is nobody's to let go of: it counts as spent.
          sum.spent += money;
          if (!open) sum.told ||= sum.spent >= budget.money * NEAR;
        }
      }
    },
    standings() {
      const at = now();
      return budgets.flatMap((budget, n) => {
        const from = dayOf(periodOf(budget.per, at).from);
        const own = [...sums].flatMap(([key, sum]) => {
          const [number, begun, of] = JSON.parse(key) as [number, string, string];
          return number === n && begun === from ? [standing(budget, of, sum)] : [];
        });
        if (own.length > 0 || budget.each !== undefined) return own;
        return [standing(budget, "", { spent: 0, held: 0, told: false })];
      });
    },
  });
}

const rounded = (money: number): string => `${Math.round(money * 1e4) / 1e4} USD`;

/** A budget in words: `the budget of 1 USD a day for agent scout`. */
function wordsOf(budget: SpendingBudget, of: string): string {
  const { per, money, each } = budget;
  const whose = NAMES.flatMap((name) => {
    const own = name === each ? of : budget[name];
    return own === undefined ? [] : [`${name} ${own}`];
  });
  return `the budget of ${rounded(money)} a ${per}${
    whose.length === 0 ? "" : ` for ${whose.join(", ")}`
  }`;
}

/** Counts in budgets what the log says of the month of `now`. */
export async function seedBudgets(
  budgets: Pick<StandingBudgets, "seed">,
  { store, find, now }: {
    readonly store: Pick<Store, "events">;
    readonly find: FindTask;
    readonly now: number;
  },
): Promise<void> {
  await budgets.seed(spentSince(store, periodOf("month", now).from), find);
}
