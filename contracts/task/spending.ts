/** Budgets over many tasks, spending, and the state of budgets. @module */
import * as z from "zod";
import type { Pid, TaskId } from "../authority/ids.ts";

const MOMENT = "moment", TASK = "task", SESSION = "session", DAY = "day", MONTH = "month";
/**
 * What budgets limit, and the spans that each can be counted over: sums of a day or month (UTC), of
 * a task's life or of all tasks of a session, or the amount at one moment.
 */
export const BUDGET_SPANS = Object.freeze({
  /** US dollars that models cost. */
  money: [DAY, MONTH, SESSION],
  /** Bytes of requests to the web and to imported servers at URLs. */
  egressBytes: [DAY, MONTH, SESSION, TASK],
  /** Pages opened in a browser. */
  tabs: [DAY, MONTH, SESSION, TASK, MOMENT],
  /** Local programs: granted commands, process sessions, foreign agents. */
  processes: [DAY, MONTH, SESSION, TASK, MOMENT],
  /** Maximum processes and threads of such programs together; each program's walls enforce its share. */
  threads: [MOMENT],
  /** Maximum memory of such programs and browsers. */
  memoryBytes: [MOMENT],
  /** Sources added to wikis. */
  sources: [DAY, MONTH],
  sourceBytes: [DAY, MONTH],
  /** Growth of wikis' indexes, bytes. */
  indexBytes: [DAY, MONTH],
});
/** One of {@link BUDGET_SPANS}. */
export type BudgetOf = keyof typeof BUDGET_SPANS;
const BUDGET_OF = Object.keys(BUDGET_SPANS) as readonly BudgetOf[];
const amount = z.number().min(0).max(1e15).optional();

/** A limit on one kind of use over all tasks; absent fields match everything. */
export const SpendingBudget = z.object({
  per: z.enum([DAY, MONTH, SESSION, TASK, MOMENT]),
  /** US dollars. */
  money: z.number().min(0).max(1e6).optional(),
  ...{ egressBytes: amount, tabs: amount, processes: amount, threads: amount },
  memoryBytes: amount,
  ...{ sources: amount, sourceBytes: amount, indexBytes: amount },
  /** Name in remit.yaml; `agent` is the default agent. */
  agent: z.string().min(1).max(64).optional(),
  principal: z.string().min(1).max(256).optional(),
  trigger: z.enum(["terminal", "pipe", "http", "webhook", "schedule", "a2a", "mcp", "mail"])
    .optional(),
  /** Count separately for each of these; absent: all together. */
  each: z.enum(["agent", "principal", "trigger"]).optional(),
}).strict().superRefine((budget, { addIssue }) => {
  const [what, ...more] = BUDGET_OF.filter((name) => budget[name] !== undefined);
  const wrong = what === undefined || more.length > 0
    ? `a budget is of exactly one of ${BUDGET_OF.join(", ")}`
    : !(BUDGET_SPANS[what] as readonly string[]).includes(budget.per)
    ? `${what} is counted per ${BUDGET_SPANS[what].join(", ")}`
    : (budget.per === TASK || budget.per === SESSION) && budget.each !== undefined
    ? `per: ${budget.per} gives each ${budget.per} a sum of its own already; leave out each`
    : undefined;
  if (wrong !== undefined) addIssue({ code: "custom", message: wrong });
});
export type SpendingBudget = z.infer<typeof SpendingBudget>;

/** Kind and amount of a budget. */
export function amountOf(
  budget: SpendingBudget,
): { readonly of: BudgetOf; readonly most: number } {
  const of = BUDGET_OF.find((name) => budget[name] !== undefined) ?? "money";
  return { of, most: budget[of] ?? 0 };
}

/** Sums of inferences of one day, model and payer. */
export interface CostRow {
  /** UTC: `2026-11-27`. */
  readonly day: string;
  readonly model: string;
  /** The agent of remit.yaml, or the child agent that asked; `agent` for the default agent. */
  readonly agent: string;
  readonly principal: string;
  /** The ingress channel of its task: `terminal`, `schedule`, … */
  readonly trigger: string;
  readonly inferences: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars paid. */
  readonly money: number;
  /** Inferences without a recorded end: running, or cut off by a kernel's death. */
  readonly open: number;
  /** Maximum US dollars that those may have cost. */
  readonly openMoney: number;
}

/** The state of one budget in its current span. */
export interface BudgetStanding {
  /** In words: `the budget of 1 USD a day for agent scout`. */
  readonly name: string;
  readonly per: SpendingBudget["per"];
  readonly of: BudgetOf;
  /** US dollars, bytes or pieces. */
  readonly most: number;
  readonly spent: number;
  /** Reserved for running requests, or in use at this moment. */
  readonly held: number;
  /** Projected exhaustion at the current rate, milliseconds since 1970; absent: not before the period ends. */
  readonly outAt?: number;
  /** Start of the next day or month, milliseconds since 1970; absent for a task and a moment. */
  readonly endsAt?: number;
}

/** The user of a budget: a process, a task as a whole, or (without a task) the operator. */
export interface User {
  readonly task: TaskId | undefined;
  readonly pid?: Pid;
  /** Already used: count it even if it does not fit. */
  readonly past?: boolean;
}

/** Amounts to use of each kind: bytes or pieces. */
export type Amounts = Readonly<Partial<Record<Exclude<BudgetOf, "money">, number | undefined>>>;

/** The budgets of everything except money. */
export interface Uses {
  /**
   * Counts all amounts of a moment or none. The returned function ends the use of momentary
   * amounts. Rejects `budgetExhausted` with the budget, its use and how to raise it.
   */
  take(user: User, amounts: Amounts, doing: string): Promise<() => void>;
  /**
   * Counts `most` of a kind that is used up gradually, or as much as is left, but at least `need`.
   * Returns the counted amount. Rejects like {@link Uses.take}.
   */
  step(
    user: User,
    of: Exclude<BudgetOf, "money">,
    wanted: { readonly need: number; readonly most: number; readonly doing: string },
  ): Promise<{ readonly amount: number; release(): void }>;
  /** Whether a budget limits this kind. */
  has(of: BudgetOf): boolean;
}
