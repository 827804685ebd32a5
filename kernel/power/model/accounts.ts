/** What spenders have in budgets, and all budgets of a kernel together. @module */
import type { BudgetOf, BudgetStanding } from "../../../contracts/task/spending.ts";
import type { FindTask, Payer, Spent, Used } from "../../core/log/spending.ts";

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
  /**
   * Counts an amount of something other than money before it is used, or throws `budgetExhausted`: what is counted
   * stays so, whatever becomes of it; `past`: it was used already, whether or not it fits. The budgets that this brought near their end: tell people, once.
   */
  take(amount: number, doing: string, past?: boolean): Promise<Taken>;
  /** Others hold some of it. */
  busy(): boolean;
  /** Resolves when somebody lets go of what they held. */
  freed(): Promise<void>;
}

/** What was counted. */
export interface Taken {
  readonly near: readonly BudgetStanding[];
  /** A kill must not forget it. */
  readonly lasting: boolean;
  /** What was there at this moment is there no more. */
  release(): void;
}

/** All of them. */
export interface StandingBudgets {
  /** `what` absent: money. */
  of(payer: Payer, what?: BudgetOf): Account;
  /** Counts what the log says of this month, before the first request. */
  seed(spent: AsyncIterable<Spent>, find: FindOrAsk): Promise<void>;
  /**
   * The same of other things than money; `live`: tasks that are not over. `again`: of the tasks' own sums alone, as for
   * one that was over and is resumed.
   */
  seedUsed(
    used: AsyncIterable<Used>,
    find: FindOrAsk,
    tasks: { readonly live: ReadonlySet<string>; readonly again?: boolean },
  ): Promise<void>;
  /** There are some of it. */
  has(what: BudgetOf): boolean;
  /** A task has ended: its own sums are over. */
  forget(task: string): void;
  /** How each stands, those of which something was spent. */
  standings(): Promise<readonly BudgetStanding[]>;
}

/** Looks a task up, here or at the other kernels. */
export type FindOrAsk = (task: string) => ReturnType<FindTask> | Promise<ReturnType<FindTask>>;
