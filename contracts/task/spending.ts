/** Budgets over many tasks, what was spent, and how they stand. @module */
import * as z from "zod";
import type { Pid, TaskId } from "../authority/ids.ts";

const MOMENT = "moment", TASK = "task", SESSION = "session", DAY = "day", MONTH = "month";
/**
 * What budgets are of, and for which spans: a sum of a day or month (UTC), of one task's life or of all tasks of a
 * session, or what is there at one moment.
 */
export const BUDGET_SPANS = Object.freeze({
  /** US dollars that models cost. */
  money: [DAY, MONTH, SESSION],
  /** Bytes of requests that leave for the web and for imported servers on it. */
  egressBytes: [DAY, MONTH, SESSION, TASK],
  /** Pages opened in a browser. */
  tabs: [DAY, MONTH, SESSION, TASK, MOMENT],
  /** Programs of this machine: granted commands, process sessions, agents of others. */
  processes: [DAY, MONTH, SESSION, TASK, MOMENT],
  /** Processes and threads that such programs may have together: the walls of each hold it to its share. */
  threads: [MOMENT],
  /** The most that such programs and browsers may take of memory. */
  memoryBytes: [MOMENT],
  /** Sources that wikis take in. */
  sources: [DAY, MONTH],
  sourceBytes: [DAY, MONTH],
  /** Bytes by which the indexes of wikis grow. */
  indexBytes: [DAY, MONTH],
});
/** One of {@link BUDGET_SPANS}. */
export type BudgetOf = keyof typeof BUDGET_SPANS;
const BUDGET_OF = Object.keys(BUDGET_SPANS) as readonly BudgetOf[];
const amount = z.number().min(0).max(1e15).optional();

/** What models may cost, or tasks use, over all tasks; absent fields mean any. */
export const SpendingBudget = z.object({
  per: z.enum([DAY, MONTH, SESSION, TASK, MOMENT]),
  /** US dollars. */
  money: z.number().min(0).max(1e6).optional(),
  ...{ egressBytes: amount, tabs: amount, processes: amount, threads: amount },
  memoryBytes: amount,
  ...{ sources: amount, sourceBytes: amount, indexBytes: amount },
  /** As remit.yaml names it; `agent` is the plain one. */
  agent: z.string().min(1).max(64).optional(),
  principal: z.string().min(1).max(256).optional(),
  trigger: z.enum(["terminal", "pipe", "http", "webhook", "schedule", "a2a", "mcp", "mail"])
    .optional(),
  /** Each of these has a sum of its own; absent: all together. */
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

/** What a budget is of, and how much. */
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
  /** The agent of remit.yaml, or the child agent that asked; `agent` for the plain one. */
  readonly agent: string;
  readonly principal: string;
  /** The channel by which its task came in: `terminal`, `schedule`, … */
  readonly trigger: string;
  readonly inferences: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars paid. */
  readonly money: number;
  /** Inferences without an end on record: under way, or their kernel was killed. */
  readonly open: number;
  /** US dollars that those may have cost at most. */
  readonly openMoney: number;
}

/** How one budget stands in its day or month, in its task, or at this moment. */
export interface BudgetStanding {
  /** In words: `the budget of 1 USD a day for agent scout`. */
  readonly name: string;
  readonly per: SpendingBudget["per"];
  readonly of: BudgetOf;
  /** US dollars, bytes or pieces. */
  readonly most: number;
  readonly spent: number;
  /** Held for requests under way, or there at this moment. */
  readonly held: number;
  /** Milliseconds since 1970 at which it is used up, should it go on as so far; absent: not before its period ends. */
  readonly outAt?: number;
  /** Milliseconds since 1970 at which the next day or month begins; absent for a task and a moment. */
  readonly endsAt?: number;
}

/** Who uses something; without a process its task as a whole, without a task the operator. */
export interface User {
  readonly task: TaskId | undefined;
  readonly pid?: Pid;
  /** It was used already, whether or not it fits. */
  readonly past?: boolean;
}

/** What is to be used, of each kind so much: bytes or pieces. */
export type Amounts = Readonly<Partial<Record<Exclude<BudgetOf, "money">, number | undefined>>>;

/** The budgets of other things than money. */
export interface Uses {
  /**
   * Counts all of them or none that is of one moment. The returned function says that what is there at this moment is
   * there no more. Rejects `budgetExhausted` with the budget, what is used of it and how it is raised.
   */
  take(user: User, amounts: Amounts, doing: string): Promise<() => void>;
  /**
   * Counts `most` of what is used up by and by, or where that does not fit what is left, `need` at least; gives what it
   * counted. Rejects as {@link Uses.take}.
   */
  step(
    user: User,
    of: Exclude<BudgetOf, "money">,
    wanted: { readonly need: number; readonly most: number; readonly doing: string },
  ): Promise<{ readonly amount: number; release(): void }>;
  /** There is a budget of it. */
  has(of: BudgetOf): boolean;
}
