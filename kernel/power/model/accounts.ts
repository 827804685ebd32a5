/** Accounts of spenders over all their budgets. @module */
import type { BudgetOf, BudgetStanding } from "../../../contracts/task/spending.ts";
import type { FindTask, Payer, Spent, Used } from "../../core/log/spending.ts";

/** One spender's account over all its budgets. */
export interface Account {
  /** US dollars that are neither spent nor held; never below 0. */
  left(): number;
  /** Reads the spending and holds of other kernels; no effect where this kernel is alone. */
  refresh(): Promise<void>;
  /** Throws `budgetExhausted` with the budget's name where `money` more US dollars do not fit. */
  check(money: number): void;
  /**
   * Holds `money` for a running request until the returned function is called; undefined where
   * another kernel was first and `need` of it no longer fits, so that the caller must check again.
   */
  hold(money: number, need?: number): Promise<(() => void) | undefined>;
  /** Counts a payment, even above a budget. Returns the budgets that are newly near their end, for one notice to people. */
  book(money: number): readonly BudgetStanding[];
  /**
   * Counts an amount other than money before its use, or throws `budgetExhausted`. The count remains whatever the use comes
   * to. `past`: it was used already, so it is counted even above a budget.
   */
  take(amount: number, doing: string, past?: boolean): Promise<Taken>;
  /** True while requests hold some of its budgets. */
  busy(): boolean;
  /** Resolves when a hold is released. */
  freed(): Promise<void>;
}

/** A counted amount. */
export interface Taken {
  /** Budgets that are newly near their end, for one notice to people. */
  readonly near: readonly BudgetStanding[];
  /** The count must survive a kill. */
  readonly lasting: boolean;
  /** Ends a use that is counted only while it lasts. */
  release(): void;
}

/** All budgets of a kernel. */
export interface StandingBudgets {
  /** The account of a spender. `what` absent: money. */
  of(payer: Payer, what?: BudgetOf): Account;
  /** Counts the log's payments of this month, before the first request. */
  seed(spent: AsyncIterable<Spent>, find: FindOrAsk): Promise<void>;
  /**
   * Counts the log's uses other than money. `live`: unfinished tasks. `again`: only for the tasks'
   * own sums, when a finished task is resumed.
   */
  seedUsed(
    used: AsyncIterable<Used>,
    find: FindOrAsk,
    tasks: { readonly live: ReadonlySet<string>; readonly again?: boolean },
  ): Promise<void>;
  /** True where a budget limits `what`. */
  has(what: BudgetOf): boolean;
  /** Drops the own sums of an ended task. */
  forget(task: string): void;
  /** The standing of each budget with spending. */
  standings(): Promise<readonly BudgetStanding[]>;
}

/** Finds a task, here or at the other kernels. */
export type FindOrAsk = (task: string) => ReturnType<FindTask> | Promise<ReturnType<FindTask>>;
