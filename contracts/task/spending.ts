/** What was spent, and how the budgets that hold over many tasks stand. @module */

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

/** How one budget stands in its day or month. */
export interface BudgetStanding {
  /** In words: `the budget of 1 USD a day for agent scout`. */
  readonly name: string;
  readonly per: "day" | "month";
  /** US dollars. */
  readonly money: number;
  readonly spent: number;
  /** Held for requests under way. */
  readonly held: number;
  /** Milliseconds since 1970 at which it is used up, should it go on as so far; absent: not before its period ends. */
  readonly outAt?: number;
  /** Milliseconds since 1970 at which the next day or month begins. */
  readonly endsAt: number;
}
