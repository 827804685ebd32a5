/** The models of one task: its own, who summarizes, what each process uses, and what all of it costs. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { Pid, TaskId } from "../../contracts/authority/mod.ts";
import type { ModelChoice, NewEvent, ProcessRow, TaskRequest } from "../../contracts/task/mod.ts";
import { makeAside, makeTaskAside } from "./session/aside.ts";
import { type AskAside, governed, type InferAside } from "../power/model/governed_model.ts";
import { makePurse, reserving } from "../core/process/brake.ts";
import type { InferenceParts, Summarizer } from "./session/inference.ts";
import { makeModelMoney, type ModelMoney } from "../power/model/money.ts";
import type { StandingBudgets } from "../power/model/standing_budgets.ts";
import { spenderOf } from "../core/log/spending.ts";
import {
  type JudgedModel,
  judgedModel,
  makeProcessModel,
  type ProcessModel,
  type ProcessModelParts,
} from "./session/process_model.ts";
import type { ProcessTable } from "../core/process/table.ts";

/** What {@link openTaskModels} is handed. */
export interface TaskModelsParts extends Pick<ProcessModelParts, "models" | "rates"> {
  readonly log: InferenceParts["log"];
  readonly powers: InferenceParts["powers"];
  readonly processes: InferenceParts["processes"] & Pick<ProcessTable, "get">;
  /** Why a process may not use a model now; undefined when it may. */
  modelRefused(row: ProcessRow, model: JudgedModel): string | undefined;
  /** Asks a person whether a process that spends too fast may go on. Rejects `needsApproval`. */
  askBrake(row: ProcessRow): Promise<boolean>;
  readonly task: TaskId;
  note(text: string): void;
  /** Money over many tasks. */
  readonly budgets: Pick<StandingBudgets, "of">;
  /** A process ran into this limit. */
  exhausted(pid: Pid, limit: string): void;
}

/** The models of a task. */
export interface TaskModels {
  /** The model of a process, made at its first use. */
  of(row: ProcessRow): ProcessModel;
  /** For plugins' questions to the model. */
  readonly aside: AskAside;
  /** For what imported servers ask of it, each time with a person's consent. */
  readonly sampling: InferAside;
  /** What the inferences of a process are made with beside its model. */
  inferring(
    row: ProcessRow,
  ): Pick<InferenceParts, "brake" | "money" | "paid" | "exhausted" | "summarizer">;
  /** Gives the task's own back. What processes were switched to, their sessions give back. */
  release(): void;
}

/**
 * Opens a task's model and summarizer. `switched` is what its first process had been switched to
 * before the kernel was started anew: then the rule has had its turn. Rejects with the backend's fault.
 */
export async function openTaskModels(
  parts: TaskModelsParts,
  { model: asked, ingress, agent }: Pick<TaskRequest, "model" | "ingress" | "agent">,
  switched: ModelChoice | undefined,
): Promise<TaskModels> {
  const first = switched ?? { ref: asked.ref, config: asked.config };
  const opened = await parts.models.provide(first);
  const shortens = asked.summarizer === undefined
    ? undefined
    : await parts.models.provide(asked.summarizer).catch((error: unknown) => {
      opened.release();
      throw error;
    });
  const purse = makePurse(parts.powers);
  const brake = reserving(purse, parts.askBrake);
  const account = parts.budgets.of(
    spenderOf({ ingress, ...(agent === undefined ? {} : { agent: agent.name }) }),
  );
  const money = tellingLimit(makeModelMoney(parts.processes, account), parts.exhausted);
  const paid = (sum: number): void => {
    purse.paid(sum);
    const near = account.book(sum).map(({ name, spent, money }): NewEvent => ({
      kind: "budget",
      body: { name, spent, money },
    }));
    if (near.length === 0) return;
    parts.log.append(parts.task, near).catch((error: unknown) =>
      parts.note(`A budget that is nearly used up was not told of: ${String(error)}`)
    );
  };
  const byProcess = new Map<Pid, ProcessModel>();

  const of = (row: ProcessRow): ProcessModel => {
    const made = byProcess.get(row.pid) ?? makeProcessModel({
      ...parts,
      ...{ row, first, opened },
      rule: switched === undefined ? asked.escalate : undefined,
      judge: (model) => parts.modelRefused(row, model),
    });
    byProcess.set(row.pid, made);
    return made;
  };

  const summarizing = (row: ProcessRow): { readonly summarizer?: Summarizer } => {
    if (shortens === undefined || asked.summarizer === undefined) return {};
    const judged = judgedModel(asked.summarizer, shortens);
    const refused = (): string | undefined => parts.modelRefused(row, judged);
    const model = governed(shortens, { ...parts, row, modelRefused: refused });
    return { summarizer: { model, modelRefused: refused } };
  };

  const sampling = makeTaskAside({
    ...parts,
    ...{ brake, money },
    modelOf: (row) => of(row).model,
    modelRefused: (row) => of(row).refused(),
    paid,
    exhausted: (row, limit) => parts.exhausted(row.pid, limit),
  });

  return Object.freeze<TaskModels>({
    of,
    ...{ sampling, aside: makeAside(sampling) },
    inferring: (row) => ({
      ...{ brake, money, paid },
      exhausted: (limit) => parts.exhausted(row.pid, limit),
      ...summarizing(row),
    }),
    release(): void {
      opened.release();
      shortens?.release();
    },
  });
}

/** Money whose budgets over many tasks end a process as its own limits do: it is told to conclude, and why. */
function tellingLimit(
  money: ModelMoney,
  exhausted: (pid: Pid, limit: string) => void,
): ModelMoney {
  return Object.freeze<ModelMoney>({
    async hold(pid, request, options) {
      try {
        return await money.hold(pid, request, options);
      } catch (error) {
        const limit = error instanceof Fault ? error.detail?.["limit"] : undefined;
        if (typeof limit === "string") exhausted(pid, limit);
        throw error;
      }
    },
  });
}
