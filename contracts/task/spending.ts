/** What was spent, and the budgets that hold over many tasks. @module */
import * as z from "zod";

/**
 * A budget over all tasks of this machine, beside the limits of each: US dollars for each day or month (UTC).
 * `by` gives one to each principal, agent or trigger; `only` names the one that it is for.
 */
export const Budget = z.object({
  money: z.number().min(0).max(1e6),
  per: z.enum(["day", "month"]),
  by: z.enum(["principal", "agent", "trigger"]).optional(),
  only: z.string().min(1).max(128).optional(),
}).strict().refine(({ by, only }) => only === undefined || by !== undefined, {
  message: `"only" says which one of "by" is meant: write "by: principal", "agent" or "trigger"`,
});
/** See {@link Budget}. */
export type Budget = z.infer<typeof Budget>;

/** Budgets that hold at once. */
export const Budgets = z.array(Budget).max(64);

/** Sums of inferences of one day, model, task and agent. */
export interface CostRow {
  /** UTC: `2026-11-27`. */
  readonly day: string;
  readonly model: string;
  readonly task: string;
  /** The agent of remit.yaml, or the child agent that asked; empty for the plain one. */
  readonly agent: string;
  readonly principal: string;
  /** The trigger that made the task; empty where a person or a peer did. */
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
  /** In words: `day, principal schedule:morning`. */
  readonly name: string;
  readonly per: Budget["per"];
  readonly by: NonNullable<Budget["by"]> | "all";
  /** Whose; empty for all together. */
  readonly of: string;
  /** US dollars. */
  readonly money: number;
  readonly spent: number;
  /** Held for requests under way, and for those of a killed kernel. */
  readonly held: number;
  /** Milliseconds since 1970 at which it is used up, should it go on as in this day or month so far; absent: not before it ends. */
  readonly outAt?: number;
  /** Milliseconds since 1970 at which the next day or month begins. */
  readonly endsAt: number;
}
