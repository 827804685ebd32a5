/**
 * Budgets over many tasks: US dollars and other things for a day or a month, of all together or of each principal,
 * agent or trigger; some for the life of a task or session, or for what is there at one moment. The sums are those of the log, so
 * that a kernel that was killed changes none of them; what its requests under way may have cost counts as held until
 * their day or month is over.
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

/** Part of a budget from which on people are told that it runs out. */
const NEAR = 0.8;
/** Part of a day or month before which nothing is said of how it goes on. */
const TOO_EARLY = 0.02;

interface Sum {
  spent: number;
  held: number;
  told: boolean;
}

/** What budgets are made of where several kernels share them. */
export interface SharedParts extends SharedSums {
  /** A name for what is held. */
  id(): string;
  after: Powers["after"];
  note(line: string): void;
}

/** Sessions of which it is told how their budgets stand: those that used the most. */
const SESSIONS = 20;
/** Sessions that are remembered. */
const MOST_SESSIONS = 50_000;
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
  /** The same for all kernels, whatever the order and the amounts in their remit.yaml. */
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
  /** Sums of sessions, of which nobody says that they are over: those that nobody used for longest are forgotten. */
  const sessions = new Set<string>();
  const remember = (key: string): void => {
    sessions.delete(key);
    sessions.add(key);
    const [oldest] = sessions;
    if (sessions.size <= MOST_SESSIONS || oldest === undefined) return;
    sessions.delete(oldest);
    sums.delete(oldest);
  };
  /** Each budget that holds for a spender now, and its sum. */
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
  /** Of these sums those that people are not told of yet and should be. */
  const nearOf = (all: readonly Holding[]): readonly BudgetStanding[] =>
    all.flatMap(({ budget, most, of, sum }) => {
      const now = budget.per === "moment" ? sum.held : sum.spent;
      if (sum.told || now === 0 || now < most * NEAR) return [];
      sum.told = true;
      return [standing(budget, of, sum)];
    });
  const check = (all: readonly Holding[], amount: number, doing: string): void => {
    for (const { budget, most, of, sum } of all) {
      // Sums of fractions are a little off.
      if (sum.spent + sum.held + amount <= most * (1 + 1e-9)) continue;
      throw usedUp(budget, { of, sum, amount, doing });
    }
  };
  /** Tells the other kernels; undefined where there was not as much left of all together. */
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

  /** What nobody held before, as vectors and what the operator asks, is told at once; the rest with its request's end. */
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
          // INVARIANT: no await between the look and what is counted: two at once keep one budget together.
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
          // Of the day in which it was asked: the same sums are let go of, whatever the clock says then.
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
            letGo();
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
          // What other kernels let go of is told by nobody.
          const { promise, resolve } = Promise.withResolvers<void>();
          const disarm = shared.after(OTHERS_MS, resolve);
          return Promise.race([freed.promise, promise]).finally(disarm);
        },
      }),
    async seed(spent, find): Promise<void> {
      if (budgets.length === 0) return;
      for await (const { at, task, child, money, open } of spent) {
        for (const { most, sum } of holding(payerOf(await find(task), child), "money", at)) {
          // What a killed kernel asked for is nobody's to let go of: it counts as spent.
          sum.spent += money;
          if (!open) sum.told ||= sum.spent >= most * NEAR;
        }
      }
      if (shared === undefined) return;
      const keys = [...sums.keys()];
      learn(await shared.look(keys.map(sharedKey), keys.map((key) => sumAt(key).spent)), keys);
    },
    async seedUsed(used, find, { live, again = false }): Promise<void> {
      // What is here was counted here, or seeded before.
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
            .sort((a, b) => b.spent + b.held - a.spent - a.held).slice(0, SESSIONS);
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
