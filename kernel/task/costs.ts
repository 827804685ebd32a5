/**
 * What models cost, over all tasks: summed from the log, and bounded by budgets that hold for a day or a month.
 * Sums are read from the log once after a start; from then on they are kept as they are paid.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import type { SpendingBudget } from "../../contracts/policy/policy.ts";
import type { AgentTask } from "../../contracts/task/task.ts";
import type { Store } from "../../contracts/task/store.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import { bodyOf } from "../core/log/read_events.ts";

/** Who caused a payment. */
export interface Payer {
  readonly agent: string;
  readonly principal: string;
  /** The channel by which its task came in: `terminal`, `schedule`, … */
  readonly trigger: string;
}

/** What one model cost one payer on one day. */
export interface CostRow extends Payer {
  /** UTC, `2026-11-27`. */
  readonly day: string;
  readonly model: string;
  readonly inferences: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars. */
  readonly money: number;
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
const PAGE = 1_000;

/** Sums of the log from `since` to `until`, milliseconds; the agent of a child is its own. */
export async function costsOf(
  store: Pick<Store, "events">,
  { since, until, taskOf }: {
    readonly since: number;
    readonly until: number;
    /** Undefined for a task that is no longer known. */
    taskOf(task: TaskId): Pick<AgentTask, "agent" | "ingress"> | undefined;
  },
): Promise<readonly CostRow[]> {
  const sums = new Map<string, CostRow>();
  const agents = new Map<string, string>();
  for (let afterSeq = 0;;) {
    const page = await store.events({
      kinds: ["inferred", "processStarted"],
      afterSeq,
      limit: PAGE,
    });
    for (const event of page) {
      const body = bodyOf(event);
      const process = `${event.task} ${body["pid"]}`;
      if (event.kind === "processStarted") {
        agents.set(process, String(body["agent"] ?? "child"));
        continue;
      }
      if (event.at < since || event.at >= until) continue;
      // TRUST: a task's name is the log's own.
      const task = taskOf(event.task as TaskId);
      const row = {
        day: dayOf(event.at),
        model: String(body["model"] ?? ""),
        agent: agents.get(process) ?? task?.agent ?? "agent",
        principal: task?.ingress.principal ?? "",
        trigger: task?.ingress.channel ?? "",
      };
      const key = JSON.stringify(row);
      const before = sums.get(key);
      sums.set(key, {
        ...row,
        inferences: (before?.inferences ?? 0) + 1,
        inputTokens: (before?.inputTokens ?? 0) + Number(body["inputTokens"] ?? 0),
        outputTokens: (before?.outputTokens ?? 0) + Number(body["outputTokens"] ?? 0),
        money: (before?.money ?? 0) + Number(body["money"] ?? 0),
      });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return [...sums.values()];
    afterSeq = last.seq;
  }
}

/** Budgets over all tasks, and what is spent and held of them. */
export interface Ledger {
  /**
   * Holds what a request will probably cost, until it is given back; what it cost is paid beside it. `near` is told
   * of a budget that is used up, and once a period of one that ends soon.
   *
   * @throws Fault `budgetExhausted` that names the budget which it would pass
   */
  reserve(payer: Payer, money: number, near: (words: string) => void): Promise<() => void>;
  /** Counts what was paid. */
  paid(payer: Payer, money: number): void;
}

/** Share of a budget from which its end is told. */
const NEAR = 0.8;

/** Makes the ledger. `costs` sums the log from a time on. */
export function makeLedger({ budgets, now, costs }: {
  readonly budgets: readonly SpendingBudget[];
  now(): number;
  costs(since: number): Promise<readonly CostRow[]>;
}): Ledger {
  if (budgets.length === 0) {
    return Object.freeze<Ledger>({
      reserve: () => Promise.resolve(() => undefined),
      paid: () => undefined,
    });
  }
  /** Spent and held by budget and period. */
  const spent = new Map<string, number>();
  const held = new Map<string, number>();
  const told = new Set<string>();
  const periodOf = ({ per }: SpendingBudget, day: string): string =>
    per === "day" ? day : day.slice(0, 7);
  const covers = (budget: SpendingBudget, payer: Payer): boolean =>
    (budget.agent === undefined || budget.agent === payer.agent) &&
    (budget.principal === undefined || budget.principal === payer.principal) &&
    (budget.trigger === undefined || budget.trigger === payer.trigger);
  const add = (sums: Map<string, number>, key: string, money: number): void =>
    void sums.set(key, Math.max(0, (sums.get(key) ?? 0) + money));
  const keysOf = (payer: Payer, day: string): readonly (readonly [SpendingBudget, string])[] =>
    budgets.flatMap((budget, n) =>
      covers(budget, payer) ? [[budget, `${n} ${periodOf(budget, day)}`] as const] : []
    );
  const count = (payer: Payer, money: number, day: string): void => {
    for (const [, key] of keysOf(payer, day)) add(spent, key, money);
  };
  let ready: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    const month = `${dayOf(now()).slice(0, 7)}-01`;
    // A day may have begun in another time zone's month: nothing before it counts.
    for (const row of await costs(Date.parse(month))) count(row, row.money, row.day);
  };

  return Object.freeze<Ledger>({
    async reserve(payer, money, near) {
      await (ready ??= read());
      const keys = keysOf(payer, dayOf(now()));
      for (const [budget, key] of keys) {
        const after = (spent.get(key) ?? 0) + (held.get(key) ?? 0) + money;
        if (after > budget.money) {
          const why = `${wordsOf(budget)} is used up (${rounded(spent.get(key) ?? 0)} spent, ` +
            `${rounded((held.get(key) ?? 0) + money)} under way)`;
          near(why);
          throw new Fault(
            "budgetExhausted",
            `Cannot infer: ${why}; raise it in "budgets" of remit.yaml, or wait for the next ${budget.per}`,
          );
        }
        if (after >= budget.money * NEAR && !told.has(key)) {
          told.add(key);
          near(`${wordsOf(budget)}: ${rounded(after)} spent or under way`);
        }
      }
      for (const [, key] of keys) add(held, key, money);
      let holding = true;
      return () => {
        if (!holding) return;
        holding = false;
        for (const [, key] of keys) add(held, key, -money);
      };
    },
    paid(payer, money) {
      // Before it is read, the log itself has this payment.
      if (ready !== undefined) count(payer, money, dayOf(now()));
    },
  });
}

const rounded = (money: number): string => `${Math.round(money * 1e4) / 1e4} USD`;

function wordsOf({ per, money, agent, principal, trigger }: SpendingBudget): string {
  const of = [
    ...(agent === undefined ? [] : [`agent ${agent}`]),
    ...(principal === undefined ? [] : [`principal ${principal}`]),
    ...(trigger === undefined ? [] : [`trigger ${trigger}`]),
  ];
  return `the budget of ${rounded(money)} a ${per}${
    of.length === 0 ? "" : ` for ${of.join(", ")}`
  }`;
}

/** Who pays for what a process asks. */
export function payerOf(
  row: Pick<ProcessRow, "spec" | "principal">,
  channel: string,
): Payer {
  return { agent: row.spec, principal: row.principal, trigger: channel };
}
