/** Wires a kernel's models: their users, rates and budgets. Used by main_work.ts. @module */
import type { Powers, ProcessKeeper } from "../contracts/task/process.ts";
import type { EventLog, Store } from "../contracts/task/store.ts";
import { type AgentTask, TASK_TRANSITIONS, TaskStatus } from "../contracts/task/task.ts";
import type { TaskId } from "../contracts/authority/ids.ts";
import type { KernelConfig } from "../contracts/wire/wire_control.ts";
import { makeOperatorAsk, makeOperatorEmbed } from "./control/operator_ask.ts";
import type { Children } from "./core/child/children.ts";
import { type FindTask, isBeside, payerOf, spentSince, usedSince } from "./core/log/spending.ts";
import type { Bus } from "./core/log/watch.ts";
import type { MainFleet } from "./main_fleet.ts";
import type { EmbeddersParts } from "./power/model/embedders.ts";
import { makeModelRates, type ModelRates } from "./power/model/rates.ts";
import { type LentSecrets, makeModelServices, type ModelServices } from "./power/model/services.ts";
import type { StandingBudgets } from "./power/model/accounts.ts";
import { makeStandingBudgets } from "./power/model/standing_budgets.ts";
import type { Uses } from "../contracts/task/spending.ts";
import { makeUses, seedBudgets } from "./power/model/uses.ts";
import { WEIGHTS_POWERS } from "./power/model/weights_powers.ts";

/** Tells whether a status is final. */
function isOver(status: unknown): boolean {
  const { data } = TaskStatus.safeParse(status);
  return data !== undefined && TASK_TRANSITIONS[data].length === 0;
}

/** The kernel's parts around models. */
export interface MainModelsParts {
  readonly config: KernelConfig;
  readonly secrets: Pick<LentSecrets, "get" | "lend">;
  readonly children: Pick<Children, "model">;
  readonly powers: Powers;
  readonly store: Store;
  readonly log: EventLog;
  readonly processes: Pick<ProcessKeeper, "get">;
  /** A known task. */
  find(task: TaskId): ReturnType<FindTask>;
  /** The fleet that shares rates and budgets; undefined where this kernel is alone. */
  readonly fleet: Pick<MainFleet, "shared" | "rates" | "spent" | "task"> | undefined;
  /** Why a session may not use a model with texts of a label; undefined where it may. */
  readonly modelRefused: EmbeddersParts["modelRefused"];
}

/** The models of a kernel. */
export interface MainModels {
  /** The models of tasks. */
  readonly models: ModelServices;
  readonly rates: ModelRates;
  readonly budgets: StandingBudgets;
  /** Uses of budgets other than money. */
  readonly uses: Uses;
  /** Counts this month's costs from the log, and from then on costs outside of tasks' purses. */
  countBudgets(find: FindTask, listen: Bus["listen"], live: readonly AgentTask[]): Promise<void>;
  /** Counts a resumed task's earlier use in its own budgets, also after another kernel. */
  recount(task: TaskId): Promise<void>;
  /** The operator's operations. */
  readonly lend: LentSecrets["lend"];
  readonly embed: ReturnType<typeof makeOperatorEmbed>;
  readonly ask: ReturnType<typeof makeOperatorAsk>;
}

/** Wires the models. Providers' rates are shared by all users. */
export function wireModels(parts: MainModelsParts): MainModels {
  const { config, children, powers, log, modelRefused, secrets, fleet, store } = parts;
  const plans = { ...config, secret: secrets.get };
  const models = makeModelServices({ children, plans, powers, weights: WEIGHTS_POWERS });
  const own = makeModelRates(powers);
  const rates = fleet?.rates(own) ?? own;
  const budgets = makeStandingBudgets(config.policy.budgets ?? [], powers, fleet?.shared);
  const afford = async (money: number): Promise<void> => {
    const account = budgets.of(payerOf(undefined));
    await account.refresh();
    account.check(money);
  };
  const uses = makeUses({
    ...{ budgets, log, processes: parts.processes },
    find: (task) => parts.find(task as TaskId),
  });
  const operator = {
    ...{ rates, log, powers, modelRefused, afford, provide: models.provide },
    async egress({ task, pid }, { bytes, host }) {
      await uses.take({ task, pid }, { egressBytes: bytes }, `ask a model at ${host}`);
    },
  } satisfies Parameters<typeof makeOperatorAsk>[0];
  return Object.freeze<MainModels>({
    ...{ models, rates, budgets, uses, lend: secrets.lend },
    ...{ embed: makeOperatorEmbed(operator), ask: makeOperatorAsk(operator) },
    async recount(task): Promise<void> {
      await budgets.seedUsed(usedSince(store, 0, task), (id) => parts.find(id as TaskId), {
        ...{ live: new Set([task]), again: true },
      });
    },
    async countBudgets(find, listen, live): Promise<void> {
      await seedBudgets(budgets, {
        used: (since) => usedSince(store, since),
        spent: (since) => fleet?.spent(since) ?? spentSince(store, since),
        find: async (task) => find(task) ?? await fleet?.task(task as TaskId),
        now: powers.now(),
        live,
      });
      listen(undefined, ({ task, kind, body }) => {
        // A failed task may be resumed, and keeps its own budgets.
        if (kind === "taskStatus" && body["status"] !== "failed" && isOver(body["status"])) {
          budgets.forget(task);
        }
        if (kind === "inferred" && isBeside(body)) {
          budgets.of(payerOf(find(task))).book(Number(body["money"] ?? 0));
        }
      });
    },
  });
}
