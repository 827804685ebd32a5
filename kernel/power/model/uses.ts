/**
 * Tasks' use of budgets other than money, counted before the use: a kill then loses nothing, and
 * unused amounts stay counted. docs/money.md. Used by kernel/task/models.ts; made in
 * kernel/main_models.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { ProcessKeeper } from "../../../contracts/task/process.ts";
import type { AgentTask } from "../../../contracts/task/task.ts";
import type { BudgetOf, BudgetStanding, User, Uses } from "../../../contracts/task/spending.ts";
import type { EventLog } from "../../../contracts/task/store.ts";
import {
  type FindTask,
  type Payer,
  payerOf,
  type Spent,
  type Used,
} from "../../core/log/spending.ts";
import { amountText, periodOf } from "./budget_words.ts";
import type { FindOrAsk, StandingBudgets } from "./accounts.ts";

/** The budgets, the log and the processes. */
export interface UsesParts {
  readonly budgets: Pick<StandingBudgets, "of" | "has">;
  readonly log: Pick<EventLog, "append">;
  readonly processes: Pick<ProcessKeeper, "get">;
  find: FindTask;
}

/** A line about a budget that runs out, for watchers. */
export function nearText({ name, per, of, spent, held }: BudgetStanding): string {
  // A request holds its possible cost until its payment is booked, so a hold is not spent a second time.
  const amount = amountText(of, per === "moment" ? held : spent);
  return `${name}: ${amount} ${of === "money" ? "spent" : "used"}`;
}

/** Makes the uses of a kernel's budgets. */
export function makeUses({ budgets, log, processes, find }: UsesParts): Uses {
  const payer = ({ task, pid }: User): Payer => {
    const row = pid === undefined ? undefined : processes.get(pid);
    const of = payerOf(task === undefined ? undefined : find(task));
    const named = row === undefined ? of : { ...of, agent: row.spec, principal: row.principal };
    return { ...named, ...(task === undefined ? {} : { task }) };
  };
  const count = async (
    user: User,
    [of, amount]: readonly [BudgetOf, number],
    doing: string,
  ): Promise<() => void> => {
    const { near, lasting, release } = await budgets.of(payer(user), of).take(
      amount,
      doing,
      user.past,
    );
    const { task = "kernel", pid = 1 } = user;
    try {
      // A use is logged before it happens.
      await log.append(task, [
        ...(lasting ? [{ kind: "budgetUsed" as const, body: { pid, of, amount } }] : []),
        ...near.map((each) => ({
          kind: "budgetNear" as const,
          body: { pid, near: nearText(each) },
        })),
      ]);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  };
  const uses: Uses = Object.freeze<Uses>({
    has: (of) => budgets.has(of),
    async step(user, of, { need, most, doing }) {
      const left = Math.floor(budgets.of(payer(user), of).left());
      const amount = Math.max(need, Math.min(most, left));
      try {
        return { amount, release: await uses.take(user, { [of]: amount }, doing) };
      } catch (error) {
        // Other uses, or another kernel, were first.
        if (!(error instanceof Fault) || error.code !== "budgetExhausted") throw error;
        return { amount: need, release: await uses.take(user, { [of]: need }, doing) };
      }
    },
    async take(user, amounts, doing): Promise<() => void> {
      const releases: (() => void)[] = [];
      const release = (): void => releases.forEach((each) => each());
      try {
        for (const [of, amount] of Object.entries(amounts) as [BudgetOf, number | undefined][]) {
          if (amount !== undefined && budgets.has(of)) {
            releases.push(await count(user, [of, amount], doing));
          }
        }
      } catch (error) {
        release();
        throw error;
      }
      return release;
    },
  });
  return uses;
}

/**
 * Counts the log's uses of the month of `now`, and of unfinished tasks, in the budgets; `spent` and
 * `used` read the log since a moment.
 */
export async function seedBudgets(
  budgets: Pick<StandingBudgets, "seed" | "seedUsed">,
  { spent, used, find, now, live }: {
    spent(since: number): AsyncIterable<Spent>;
    used(since: number): AsyncIterable<Used>;
    readonly find: FindOrAsk;
    readonly now: number;
    /** Unfinished tasks. */
    readonly live: readonly Pick<AgentTask, "id" | "createdAt">[];
  },
): Promise<void> {
  const { from } = periodOf("month", now);
  await budgets.seed(spent(from), find);
  const since = live.reduce((least, { createdAt }) => Math.min(least, createdAt), from);
  await budgets.seedUsed(used(since), find, { live: new Set(live.map(({ id }) => id)) });
}
