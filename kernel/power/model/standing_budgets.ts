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
import { dayOf, type FindTask, type Payer, payerOf, type Spent } from "../../core/log/spending.ts";
import type { SharedSums, SumNow } from "./reservations.ts";

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
  /** Learns what other kernels spend and hold; nothing where this one is alone. */
  refresh(): Promise<void>;
  /** Throws `budgetExhausted` where this many US dollars more do not fit, naming the budget. */
  check(money: number): void;
  /**
   * Holds `money` for a request under way, until what is returned is called; undefined where another kernel was first
   * and `need` of it does not fit any more: look again.
   */
  hold(money: number, need?: number): Promise<(() => void) | undefined>;
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
  seed(spent: AsyncIterable<Spent>, find: FindOrAsk): Promise<void>;
  /** How each stands, those of which something was spent. */
  standings(): Promise<readonly BudgetStanding[]>;
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

/** What budgets are made of where several kernels share them. */
export interface SharedParts extends SharedSums {
  /** A name for what is held. */
  id(): string;
  after: Powers["after"];
  note(line: string): void;
}

/** Milliseconds after which a kernel looks again at what others hold. */
const OTHERS_MS = 500;

/** Makes them: nothing is spent. With `shared` all kernels spend of one sum. */
export function makeStandingBudgets(
  budgets: readonly SpendingBudget[],
  { now }: Pick<Powers, "now">,
  shared?: SharedParts,
): StandingBudgets {
  /** What this kernel booked and has not yet told the others, by whose it is. */
  const untold = new Map<string, number>();
  /** How many requests of theirs are under way here. */
  const under = new Map<string, number>();
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
  /** The same for all kernels, whatever the order and the amounts in their remit.yaml. */
  const sharedKey = (key: string): string => {
    const [number, from, of] = JSON.parse(key) as [number, string, string];
    return `${sharedStart(number, from)}${JSON.stringify(of)}`;
  };
  const sharedStart = (number: number, from: string): string => {
    const { per, each, agent, principal, trigger } = budgets[number] ?? {};
    return JSON.stringify([from, per, each ?? "", agent ?? "", principal ?? "", trigger ?? ""]);
  };
  const learn = (all: ReadonlyMap<string, SumNow>, keys: readonly string[]): void => {
    for (const key of keys) {
      const found = all.get(sharedKey(key));
      if (found !== undefined) Object.assign(sumAt(key), found);
    }
  };
  const sumAt = (key: string): Sum => {
    const sum = sums.get(key) ?? { spent: 0, held: 0, told: false };
    sums.set(key, sum);
    return sum;
  };
  /** Each budget that holds for a spender now, and its sum. */
  const holding = (
    payer: Payer,
    at = now(),
  ): readonly Holding[] =>
    budgets.flatMap((budget) => {
      const of = holderOf(budget, payer);
      if (of === undefined) return [];
      const key = keyOf(budget, of, at);
      return [{ budget, of, key, sum: sumAt(key) }];
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

  /** What nobody held before, as vectors and what the operator asks, is told at once; the rest with its request's end. */
  const tellOthers = (others: SharedParts, payer: Payer, money: number): void => {
    const name = JSON.stringify(payer);
    const keys = holding(payer).map(({ key }) => sharedKey(key));
    if (money === 0 || keys.length === 0) return;
    untold.set(name, (untold.get(name) ?? 0) + money);
    if ((under.get(name) ?? 0) > 0) return;
    const id = others.id();
    const most = keys.map(() => Number.MAX_VALUE);
    others.hold(id, { keys, most, need: 0, money }).then(() => settle(others, id, name))
      .catch((error: unknown) =>
        others.note(`Cannot tell other kernels what was paid: ${String(error)}`)
      );
  };
  const learnAll = async (others: SharedParts, at: number): Promise<void> => {
    const starts = budgets.map((budget, n) => sharedStart(n, dayOf(periodOf(budget.per, at).from)));
    for (const [key, sum] of await others.all(starts)) {
      const n = starts.findIndex((start) => key.startsWith(start));
      const of = JSON.parse(key.slice(starts[n]?.length ?? 0)) as string;
      const budget = budgets[n];
      if (budget !== undefined) Object.assign(sumAt(keyOf(budget, of, at)), sum);
    }
  };
  const letGo = (): void => {
    freed.resolve();
    freed = Promise.withResolvers();
  };
  /** Tells the others what was paid of what was held, once. */
  const settle = (others: SharedParts, id: string, payer: string): void => {
    const paid = untold.get(payer) ?? 0;
    untold.delete(payer);
    others.settle(id, paid).catch((error: unknown) => {
      // It stays held, which is no less than what was paid: budgets err towards stopping.
      others.note(`Cannot tell other kernels what was paid: ${String(error)}`);
    }).finally(letGo);
  };
  const holdShared = async (
    others: SharedParts,
    all: readonly Holding[],
    wanted: { readonly money: number; readonly need: number; readonly payer: string },
  ): Promise<(() => void) | undefined> => {
    const { money, need, payer } = wanted;
    const id = others.id();
    const keys = all.map(({ key }) => key);
    const { fits, sums: then } = await others.hold(id, {
      keys: keys.map(sharedKey),
      most: all.map(({ budget }) => budget.money),
      ...{ need, money },
    });
    learn(then, keys);
    if (!fits) return undefined;
    under.set(payer, (under.get(payer) ?? 0) + 1);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      under.set(payer, (under.get(payer) ?? 1) - 1);
      for (const { sum } of all) sum.held = Math.max(0, sum.held - money);
      settle(others, id, payer);
    };
  };

  return Object.freeze<StandingBudgets>({
    of: (payer) =>
      Object.freeze<Account>({
        async refresh(): Promise<void> {
          const keys = holding(payer).map(({ key }) => key);
          if (shared === undefined || keys.length === 0) return;
          learn(await shared.look(keys.map(sharedKey), keys.map(() => 0)), keys);
        },
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
        async hold(money, need = money) {
          // Of the day in which it was asked: the same sums are let go of, whatever the clock says then.
          const all = holding(payer);
          if (shared !== undefined && all.length > 0) {
            return await holdShared(shared, all, { money, need, payer: JSON.stringify(payer) });
          }
          for (const { sum } of all) sum.held += money;
          let open = true;
          return () => {
            if (!open) return;
            open = false;
            for (const { sum } of all) sum.held = Math.max(0, sum.held - money);
            letGo();
          };
        },
        book(money): readonly BudgetStanding[] {
          if (shared !== undefined) tellOthers(shared, payer, money);
          return holding(payer).flatMap(({ budget, of, sum }) => {
            sum.spent += money;
            if (money === 0 || sum.told || sum.spent < budget.money * NEAR) return [];
            sum.told = true;
            return [standing(budget, of, sum)];
          });
        },
        busy: () => holding(payer).some(({ sum }) => sum.held > 1e-12),
        freed(): Promise<void> {
          if (shared === undefined) return freed.promise;
          // What other kernels let go of is told by nobody.
          const { promise, resolve } = Promise.withResolvers<void>();
          const disarm = shared.after(OTHERS_MS, resolve);
          return Promise.race([freed.promise, promise]).finally(disarm);
        },
      }),
    async seed(spent, find): Promise<void> {
      if (budgets.length === 0) return;
      for await (const { at, task, child, money, open } of spent) {
        for (const { budget, sum } of holding(payerOf(await find(task), child), at)) {
          // What a killed kernel asked for is nobody's to let go of: it counts as spent.
          sum.spent += money;
          if (!open) sum.told ||= sum.spent >= budget.money * NEAR;
        }
      }
      if (shared === undefined) return;
      const keys = [...sums.keys()];
      learn(await shared.look(keys.map(sharedKey), keys.map((key) => sumAt(key).spent)), keys);
    },
    async standings() {
      const at = now();
      if (shared !== undefined) await learnAll(shared, at);
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

interface Holding {
  readonly budget: SpendingBudget;
  readonly of: string;
  readonly key: string;
  readonly sum: Sum;
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

/** Counts in budgets what the log says of the month of `now`; `spent` reads it since a time. */
export async function seedBudgets(
  budgets: Pick<StandingBudgets, "seed">,
  { spent, find, now }: {
    spent(since: number): AsyncIterable<Spent>;
    readonly find: FindOrAsk;
    readonly now: number;
  },
): Promise<void> {
  await budgets.seed(spent(periodOf("month", now).from), find);
}

/** Looks a task up, here or at the other kernels. */
type FindOrAsk = (task: string) => ReturnType<FindTask> | Promise<ReturnType<FindTask>>;
