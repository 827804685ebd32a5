/** Budgets in words, and the periods that they cover. Used by standing_budgets.ts and uses.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { amountOf, type BudgetOf, type SpendingBudget } from "../../../contracts/task/spending.ts";
import type { SumNow } from "./reservations.ts";

/** The kinds of owners that a budget can have. */
export const OWNERS = ["agent", "principal", "trigger"] as const;

/** Begin and end of the UTC day or month around a moment, milliseconds since 1970; lives of tasks and sessions, and moments, are unbounded. */
export function periodOf(
  per: SpendingBudget["per"],
  now: number,
): { readonly from: number; readonly to: number } {
  const at = new Date(now);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  switch (per) {
    case "day":
      return { from: Date.UTC(year, month, day), to: Date.UTC(year, month, day + 1) };
    case "month":
      return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
    case "task":
    case "session":
    case "moment":
      return { from: 0, to: Infinity };
  }
}

const BYTES: readonly (readonly [string, number])[] = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];

/** Bytes in the largest unit that fits: `1.5 MB`. */
function bytesText(bytes: number): string {
  const [unit, size] = BYTES.find(([, each]) => bytes >= each) ?? ["bytes", 1];
  return `${Math.round(bytes / size * 100) / 100} ${unit}`;
}

/** The nouns of amounts in bytes. */
const NOUNS: Readonly<Partial<Record<BudgetOf, string>>> = {
  egressBytes: "egress",
  memoryBytes: "memory",
  sourceBytes: "sources",
  indexBytes: "index",
};

/** An amount in words: `1 USD`, `20 tabs`, `1.5 MB of egress`. */
export function amountText(of: BudgetOf, amount: number): string {
  const noun = NOUNS[of];
  if (noun !== undefined) return `${bytesText(amount)} of ${noun}`;
  return `${Math.round(amount * 1e4) / 1e4} ${of === "money" ? "USD" : of}`;
}

/** A budget in words: `the budget of 1 USD a day for agent scout`, `the budget of 4 processes at once`. */
export function wordsOf(budget: SpendingBudget, of: string): string {
  const { per, each } = budget, { of: what, most } = amountOf(budget);
  const whose = OWNERS.flatMap((name) => {
    const own = name === each ? of : budget[name];
    return own === undefined ? [] : [`${name} ${own}`];
  });
  const span = per === "moment" ? "at once" : `a ${per}`;
  return `the budget of ${amountText(what, most)} ${span}${
    whose.length === 0 ? "" : ` for ${whose.join(", ")}`
  }${per === "task" || per === "session" ? ` (${per} ${of})` : ""}`;
}

/** What a person can do instead of raising an exhausted budget. */
const WAITING: Readonly<Record<SpendingBudget["per"], string>> = {
  day: "wait for the next day",
  month: "wait for the next month",
  task: "start another task",
  session: "begin another session",
  moment: "wait until one of those at work has ended",
};

/** The fault of an exhausted budget: names the budget, its use, and how to raise it. */
export function usedUp(
  budget: SpendingBudget,
  { of, sum, amount, doing }: {
    readonly of: string;
    readonly sum: SumNow;
    readonly amount: number;
    readonly doing: string;
  },
): Fault {
  const { of: what } = amountOf(budget);
  const text = (of: number): string => amountText(what, of);
  const used = what === "money"
    ? `${text(sum.spent)} spent, ${text(sum.held + amount)} under way`
    : `${text(sum.spent + sum.held)} used, ${text(amount)} more asked for`;
  const why = `${wordsOf(budget, of)} is used up (${used})`;
  return new Fault(
    "budgetExhausted",
    `Cannot ${doing}: ${why}; raise it in "budgets" of remit.yaml, or ${WAITING[budget.per]}`,
    { detail: { budget: why } },
  );
}
