/**
 * Budgets over many tasks: US dollars and other amounts for a day or a month, of all together or of
 * each principal, agent or trigger; some for the life of a task or session, or for the present
 * moment. The sums come from the log, so that a kill changes none; the possible cost of a killed
 * kernel's requests counts until their day or month ends. Wired in kernel/main_models.ts and
 * main_fleet.ts.
 * @module
 */
import type { Powers } from "../../../contracts/task/process.ts";
import {
  amountOf,
  type BudgetOf,
  type BudgetStanding,
  type SpendingBudget,
} from "../../../contracts/task/spending.ts";
import { dayOf, type Payer, payerOf } from "../../core/log/spending.ts";
import type { Account, StandingBudgets, Taken } from "./accounts.ts";
import { OWNERS, periodOf, usedUp, wordsOf } from "./budget_words.ts";
import type { SharedSums, SumNow } from "./reservations.ts";

/** Part of a budget from which people are told that it runs out. */
const NEAR = 0.8;
/** Part of a day or month before which no end is predicted. */
const TOO_EARLY = 0.02;

interface Sum {
  spent: number;
  held: number;
  told: boolean;
}

/** The parts of budgets that several kernels share. */
export interface SharedParts extends SharedSums {
  /** A new name for a hold. */
  id(): string;
  after: Powers["after"];
  note(line: string): void;
}

/** Sessions in the standings: those with the most use. */
const SHOWN_SESSIONS = 20;
/** Sessions whose sums are kept. */
const MAX_SESSIONS = 50_000;
/** Milliseconds between two reads of other kernels' holds. */
const OTHERS_MS = 500;

/** Makes the budgets without any spending. With `shared`, all kernels spend from one sum. */
export function makeStandingBudgets(
  budgets: readonly SpendingBudget[],
  { now }: Pick<Powers, "now">,
  shared?: SharedParts,
): StandingBudgets {
  /** Payments that the other kernels do not know yet, by payer. */
  const untold = new Map<string, number>();
  /** Number of running requests here, by payer. */
  const under = new Map<string, number>();
  const sums = new Map<string, Sum>();
  let freed = Promise.withResolvers<void>();

  /** The holder of the sum in which a payer's payments count; undefined where the budget does not apply to the payer. */
  const holderOf = (budget: SpendingBudget, payer: Payer): string | undefined => {
    const covers = OWNERS.every((name) =>
      budget[name] === undefined || budget[name] === payer[name]
    );
    if (budget.per === "task" || budget.per === "session") {
      return covers ? payer[budget.per] : undefined;
    }
    return covers ? (budget.each === undefined ? "" : payer[budget.each]) : undefined;
  };
  const keyOf = (budget: SpendingBudget, of: string, at: number): string =>
    JSON.stringify([budgets.indexOf(budget), dayOf(periodOf(budget.per, at).from), of]);
  /** The key for all kernels, independent of the order and the amounts in their remit.yaml. */
  const sharedKey = (key: string): string => {
    const [number, from, of] = JSON.parse(key) as [number, string, string];
    return `${sharedStart(number, from)}${JSON.stringify(of)}`;
  };
  const sharedStart = (number: number, from: string): string => {
    const budget = budgets[number];
    const { per, each, agent, principal, trigger } = budget ?? {};
    return JSON.stringify([
      ...[from, per, each ?? "", agent ?? "", principal ?? "", trigger ?? ""],
      ...(budget === undefined || budget.money !== undefined ? [] : [amountOf(budget).of]),
    ]);
  };
  const learn = (all: ReadonlyMap<string, SumNow>, keys: readonly string[]): void => {
    for (const key of keys) {
      const found = all.get(sharedKey(key));
      if (found !== undefined) Object.assign(sumAt(key), found);
    }
  };
  const sumAt = (key: string): Sum => {
    const known = sums.get(key);
    if (known !== undefined) return known;
    const sum = { spent: 0, held: 0, told: false };
    sums.set(key, sum);
    return sum;
  };
  /** Keys of sessions' sums. Sessions have no end, so the least recently used are forgotten. */
  const sessions = new Set<string>();
  const remember = (key: string): void => {
    sessions.delete(key);
    sessions.add(key);
    const [oldest] = sessions;
    if (sessions.size <= MAX_SESSIONS || oldest === undefined) return;
    sessions.delete(oldest);
    sums.delete(oldest);
  };
  /** The budgets that apply to a spender now, with their sums. */
  const holding = (
    payer: Payer,
    what: BudgetOf,
    at = now(),
  ): readonly Holding[] =>
    budgets.flatMap((budget) => {
      const of = holderOf(budget, payer), { most, of: kind } = amountOf(budget);
      if (of === undefined || kind !== what) return [];
      const key = keyOf(budget, of, at);
      if (budget.per === "session") remember(key);
      return [{ budget, most, of, key, sum: sumAt(key) }];
    });
  const standing = (budget: SpendingBudget, whose: string, sum: Sum): BudgetStanding => {
    const at = now();
    const { from, to } = periodOf(budget.per, at), { of, most } = amountOf(budget);
    const { spent, held } = sum;
    const gone = (at - from) / (to - from);
    const outAt = spent === 0 || gone < TOO_EARLY ? Infinity : from + (at - from) * most / spent;
    return {
      ...{ name: wordsOf(budget, whose), per: budget.per, of, most, spent, held },
      ...(to < Infinity ? { endsAt: to } : {}),
      ...(outAt < to ? { outAt: Math.max(at, outAt) } : {}),
    };
  };
  /** The budgets near their end of which people were not told yet. */
  const nearOf = (all: readonly Holding[]): readonly BudgetStanding[] =>
    all.flatMap(({ budget, most, of, sum }) => {
      const now = budget.per === "moment" ? sum.held : sum.spent;
      if (sum.told || now === 0 || now < most * NEAR) return [];
      sum.told = true;
      return [standing(budget, of, sum)];
    });
  const check = (all: readonly Holding[], amount: number, doing: string): void => {
    for (const { budget, most, of, sum } of all) {
      // Sums of fractions have rounding errors.
      if (sum.spent + sum.held + amount <= most * (1 + 1e-9)) continue;
      throw usedUp(budget, { of, sum, amount, doing });
    }
  };
  /** Counts an amount for all kernels; undefined where it does not fit all their spending. */
  const shareTaken = async (
    others: SharedParts,
    all: readonly Holding[],
    amount: number,
    past: boolean,
  ): Promise<true | undefined> => {
    const id = others.id(), keys = all.map(({ key }) => key);
    const { fits, sums: then } = await others.hold(id, {
      ...{ keys: keys.map(sharedKey), most: all.map(({ most }) => past ? Number.MAX_VALUE : most) },
      ...{ need: amount, money: amount },
    });
    learn(then, keys);
    if (!fits) return undefined;
    for (const { sum } of all) {
      sum.held = Math.max(0, sum.held - amount);
      sum.spent += amount;
    }
    await others.settle(id, amount);
    return true;
  };

  /** Tells payments without a hold (vectors, the operator's requests) at once; others are told at their request's end. */
  const tellOthers = (others: SharedParts, payer: Payer, money: number): void => {
    const name = JSON.stringify(payer);
    const keys = holding(payer, "money").map(({ key }) => sharedKey(key));
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
  const freeAll = (): void => {
    freed.resolve();
    freed = Promise.withResolvers();
  };
  /** Tells the other kernels the payments of a hold, once. */
  const settle = (others: SharedParts, id: string, payer: string): void => {
    const paid = untold.get(payer) ?? 0;
    untold.delete(payer);
    others.settle(id, paid).catch((error: unknown) => {
      // The hold remains, which is no less than the payment: budgets err towards stopping.
      others.note(`Cannot tell other kernels what was paid: ${String(error)}`);
    }).finally(freeAll);
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
      most: all.map(({ most }) => most),
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
    has: (what) => budgets.some((budget) => amountOf(budget).of === what),
    forget(task): void {
      for (const [number, { per }] of budgets.entries()) {
        if (per === "task") sums.delete(JSON.stringify([number, dayOf(0), task]));
      }
    },
    of: (payer, what = "money") =>
      Object.freeze<Account>({
        async refresh(): Promise<void> {
          const keys = holding(payer, what).map(({ key }) => key);
          if (shared === undefined || keys.length === 0) return;
          learn(await shared.look(keys.map(sharedKey), keys.map(() => 0)), keys);
        },
        left: () =>
          holding(payer, what).reduce(
            (least, { most, sum }) => Math.max(0, Math.min(least, most - sum.spent - sum.held)),
            Infinity,
          ),
        check: (money) => check(holding(payer, what), money, "infer"),
        async take(amount, doing, past = false): Promise<Taken> {
          const all = holding(payer, what);
          // INVARIANT: no await between the check and the count, so that concurrent uses keep one budget.
          if (!past) check(all, amount, doing);
          const present = all.filter(({ budget }) => budget.per === "moment");
          const lasting = all.filter(({ budget }) => budget.per !== "moment");
          for (const { sum } of present) sum.held += amount;
          let open = true;
          const release = (): void => {
            if (!open) return;
            open = false;
            for (const { sum } of present) sum.held = Math.max(0, sum.held - amount);
          };
          if (shared === undefined || lasting.length === 0) {
            for (const { sum } of lasting) sum.spent += amount;
          } else {
            try {
              if (await shareTaken(shared, lasting, amount, past) === undefined) {
                check(lasting, amount, doing);
              }
            } catch (error) {
              release();
              throw error;
            }
          }
          return { near: nearOf(all), lasting: lasting.length > 0, release };
        },
        async hold(money, need = money) {
          // The sums of the request's day, so that the same ones are released later, whatever the clock then is.
          const all = holding(payer, what);
          if (shared !== undefined && all.length > 0) {
            return await holdShared(shared, all, { money, need, payer: JSON.stringify(payer) });
          }
          for (const { sum } of all) sum.held += money;
          let open = true;
          return () => {
            if (!open) return;
            open = false;
            for (const { sum } of all) sum.held = Math.max(0, sum.held - money);
            freeAll();
          };
        },
        book(money): readonly BudgetStanding[] {
          if (shared !== undefined) tellOthers(shared, payer, money);
          const all = holding(payer, what);
          for (const { sum } of all) sum.spent += money;
          return money === 0 ? [] : nearOf(all);
        },
        busy: () => holding(payer, what).some(({ sum }) => sum.held > 1e-12),
        freed(): Promise<void> {
          if (shared === undefined) return freed.promise;
          // Nobody tells of other kernels' released holds.
          const { promise, resolve } = Promise.withResolvers<void>();
          const disarm = shared.after(OTHERS_MS, resolve);
          return Promise.race([freed.promise, promise]).finally(disarm);
        },
      }),
    async seed(spent, find): Promise<void> {
      if (budgets.length === 0) return;
      for await (const { at, task, child, money, open } of spent) {
        for (const { most, sum } of holding(payerOf(await find(task), child), "money", at)) {
          // Nobody can release a killed kernel's requests, so they count as spent.
          sum.spent += money;
          if (!open) sum.told ||= sum.spent >= most * NEAR;
        }
      }
      if (shared === undefined) return;
      const keys = [...sums.keys()];
      learn(await shared.look(keys.map(sharedKey), keys.map((key) => sumAt(key).spent)), keys);
    },
    async seedUsed(used, find, { live, again = false }): Promise<void> {
      // Existing sums were counted here, or seeded before.
      const known: ReadonlySet<string> = new Set(again ? sums.keys() : []);
      for await (const { at, task, child, of, amount } of used) {
        const own = live.has(task) ? { task } : {};
        const payer = { ...payerOf(await find(task), child), ...own };
        for (const { budget, most, key, sum } of holding(payer, of, at)) {
          if (budget.per === "moment" || known.has(key)) continue;
          if (again && budget.per !== "task") continue;
          sum.spent += amount;
          sum.told ||= sum.spent >= most * NEAR;
        }
      }
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
        if (budget.per === "session") {
          return own.filter(({ spent, held }) => spent + held > 0)
            .sort((a, b) => b.spent + b.held - a.spent - a.held).slice(0, SHOWN_SESSIONS);
        }
        if (own.length > 0 || budget.each !== undefined || budget.per === "task") return own;
        return [standing(budget, "", { spent: 0, held: 0, told: false })];
      });
    },
  });
}

interface Holding {
  readonly budget: SpendingBudget;
  readonly most: number;
  readonly of: string;
  readonly key: string;
  readonly sum: Sum;
}
