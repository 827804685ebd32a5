/**
 * The models of one task: its own, the summarizer, the guards, each process's current model, and
 * their cost. Used by task_host.ts and foreign_port.ts.
 * @module
 */
import { Fault } from "../../contracts/base/mod.ts";
import type { Pid } from "../../contracts/authority/mod.ts";
import type { ModelChoice, ProcessRow, TaskRequest } from "../../contracts/task/mod.ts";
import {
  type ForeignRun,
  type InferForeign,
  makeForeignInference,
} from "./session/foreign_inference.ts";
import { type AsideParts, makeAside, makeTaskAside } from "./session/aside.ts";
import { makeModelGuards, type ModelGuards } from "./model_guards.ts";
import {
  type AskAside,
  type CountEgress,
  governed,
  type GovernedModel,
  type InferAside,
} from "../power/model/governed_model.ts";
import { makePurse, reserving } from "../core/process/brake.ts";
import type { InferenceParts, Summarizer } from "./session/inference.ts";
import type { Uses } from "../../contracts/task/spending.ts";
import { nearText } from "../power/model/uses.ts";
import type { Account, StandingBudgets } from "../power/model/accounts.ts";
import { makeModelMoney, type ModelMoney } from "../power/model/money.ts";
import {
  type JudgedModel,
  judgedModel,
  makeProcessModel,
  type ProcessModel,
  type ProcessModelParts,
} from "./session/process_model.ts";
import type { ProcessTable } from "../core/process/table.ts";

/** Part of a task's limit of money from which watchers are told. */
const NEAR = 0.8;

/** A line for watchers once the process's task has spent most of its money; else undefined. */
function nearLimit({ limits, usage }: ProcessRow): string | undefined {
  if (usage.money < NEAR * limits.money) return undefined;
  const spent = Math.round(usage.money * 1e4) / 1e4;
  return `the task's limit of ${limits.money} USD: ${spent} USD spent`;
}

function rootOf(
  processes: Pick<ProcessTable, "get">,
  row: ProcessRow | undefined,
): ProcessRow | undefined {
  const now = row === undefined ? undefined : processes.get(row.pid);
  return now?.ppid === undefined ? now : rootOf(processes, processes.get(now.ppid));
}

/** The model services, log, processes and budgets. */
export interface TaskModelsParts extends Pick<ProcessModelParts, "models" | "rates"> {
  readonly log: InferenceParts["log"];
  readonly powers: InferenceParts["powers"];
  readonly processes: InferenceParts["processes"] & Pick<ProcessTable, "get">;
  /** Why a process may not use a model now; undefined where it may. */
  modelRefused(row: ProcessRow, model: JudgedModel): string | undefined;
  /** Asks a person whether a process that spends too fast may go on. Rejects `needsApproval`. */
  askBrake(row: ProcessRow): Promise<boolean>;
  /** Called when a process exhausts a limit. */
  exhausted(pid: Pid, limit: string): void;
  /** Budgets over all tasks. */
  readonly budgets: Pick<StandingBudgets, "of">;
  /** Budgets of bytes sent to models; absent: there are none. */
  readonly uses?: Pick<Uses, "take">;
}

/** The models of a task. */
export interface TaskModels {
  /** The model of a process, made at its first use. */
  of(row: ProcessRow): ProcessModel;
  /** For plugins' questions to the model. */
  readonly aside: AskAside;
  /** For inferences that imported servers request, each with a person's consent. */
  readonly sampling: InferAside;
  /** For a foreign agent's own inferences; `exhausted` hears a limit that the agent runs into. */
  foreign(run: ForeignRun, exhausted: (limit: string) => void): InferForeign;
  /** Models that check the task's calls and results. */
  readonly guards: ModelGuards;
  /** The other parts of a process's inferences: brake, money and summarizer. */
  inferring(
    row: ProcessRow,
  ): Pick<InferenceParts, "brake" | "money" | "paid" | "exhausted" | "summarizer">;
  /** Releases the task's own models. Sessions release models that processes were switched to. */
  release(): void;
}

/**
 * Opens a task's models. `switched` is the model to which an earlier kernel switched the first
 * process: the escalation rule has applied then. Rejects with the backend's fault.
 */
export async function openTaskModels(
  parts: TaskModelsParts,
  { model: asked, ingress, guards = [] }: Pick<TaskRequest, "model" | "ingress" | "guards">,
  switched: ModelChoice | undefined,
): Promise<TaskModels> {
  const first = switched ?? { ref: asked.ref, config: asked.config };
  const opened = await parts.models.provide(first);
  const summarizer = asked.summarizer === undefined
    ? undefined
    : await parts.models.provide(asked.summarizer).catch((error: unknown) => {
      opened.release();
      throw error;
    });
  const looking: { readonly guard: (typeof guards)[number]; readonly opened: typeof opened }[] = [];
  try {
    for (const guard of guards) {
      looking.push({ guard, opened: await parts.models.provide(guard.model) });
    }
  } catch (error) {
    for (const each of [opened, summarizer, ...looking.map((one) => one.opened)]) each?.release();
    throw error;
  }
  const purse = makePurse(parts.powers);
  const brake = reserving(purse, parts.askBrake);
  const accountOf = (row: ProcessRow): Account =>
    parts.budgets.of({
      ...{ agent: row.spec, principal: row.principal, trigger: ingress.channel },
      session: row.session,
    });
  const tell = (row: ProcessRow, near: string): void => {
    // For watchers only: nothing waits for this event.
    void parts.log.append(row.task, [{ kind: "budgetNear", body: { pid: row.pid, near } }])
      .catch(() => undefined);
  };
  let told = false;
  const paidBy = (row: ProcessRow) => (money: number): void => {
    purse.paid(money);
    for (const near of accountOf(row).book(money)) tell(row, nearText(near));
    // A child's spending is booked for the child and for its ancestors.
    const root = money === 0 || told ? undefined : rootOf(parts.processes, row);
    const near = root === undefined ? undefined : nearLimit(root);
    if (root === undefined || near === undefined) return;
    told = true;
    tell(root, near);
  };
  const holding = makeModelMoney(parts.processes, (pid) => {
    const row = parts.processes.get(pid);
    return row === undefined ? undefined : accountOf(row);
  });
  type Exhausted = (pid: Pid, limit: string) => void;
  /** Does work that a budget may refuse: then the process ends, with the budget as the reason. */
  const within = async <T>(pid: Pid, exhausted: Exhausted, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const why = error instanceof Fault ? error.detail?.["budget"] : undefined;
      const row = parts.processes.get(pid);
      if (typeof why === "string" && row !== undefined) {
        tell(row, why);
        // The exhausted budget becomes the task's reason.
        exhausted(pid, why);
      }
      throw error;
    }
  };
  const telling = (exhausted: Exhausted): { money: ModelMoney; egress: CountEgress } => ({
    money: {
      hold: (pid, request, options) =>
        within(pid, exhausted, () => holding.hold(pid, request, options)),
    },
    egress: ({ task, pid }, { bytes, host }) =>
      within(pid, exhausted, async () => {
        await parts.uses?.take({ task, pid }, { egressBytes: bytes }, `ask a model at ${host}`);
      }),
  });
  const { money, egress } = telling(parts.exhausted);
  const byProcess = new Map<Pid, ProcessModel>();

  const of = (row: ProcessRow): ProcessModel => {
    const made = byProcess.get(row.pid) ?? makeProcessModel({
      ...parts,
      ...{ row, first, opened, egress },
      rule: switched === undefined ? asked.escalate : undefined,
      // After a restart the first model counts as another model to switch to.
      others: [...asked.others ?? [], { ref: asked.ref, config: asked.config }],
      judge: (model) => parts.modelRefused(row, model),
    });
    byProcess.set(row.pid, made);
    return made;
  };

  const summarizing = (row: ProcessRow): { readonly summarizer?: Summarizer } => {
    if (summarizer === undefined || asked.summarizer === undefined) return {};
    const judged = judgedModel(asked.summarizer, summarizer);
    const refused = (): string | undefined => parts.modelRefused(row, judged);
    const model = governed(summarizer, { ...parts, row, egress, modelRefused: refused });
    return { summarizer: { model, modelRefused: refused } };
  };

  const beside = (
    model: Pick<AsideParts, "modelRefused"> & { modelOf(row: ProcessRow): GovernedModel },
  ): InferAside =>
    makeTaskAside({
      ...{ ...parts, ...model, brake, money },
      paid: (money, row) => paidBy(row)(money),
      exhausted: (row, limit) => parts.exhausted(row.pid, limit),
    });
  const sampling = beside({
    modelOf: (row) => of(row).model,
    modelRefused: (row) => of(row).refused(),
  });
  const guarding = makeModelGuards(looking.map(({ guard: { model, ...rule }, opened }) => {
    const judged = judgedModel(model, opened);
    const modelRefused = (row: ProcessRow): string | undefined => parts.modelRefused(row, judged);
    const modelOf = (row: ProcessRow): GovernedModel =>
      governed(opened, { ...parts, row, egress, modelRefused: () => modelRefused(row) });
    return { rule, infer: beside({ modelOf, modelRefused }) };
  }));

  return Object.freeze<TaskModels>({
    of,
    ...{ sampling, aside: makeAside(sampling), guards: guarding },
    foreign: (run, exhausted) =>
      makeForeignInference({
        ...{ ...parts, brake, paid: (money) => paidBy(run.row)(money) },
        ...telling((_pid, limit) => exhausted(limit)),
        exhausted: (_row, limit) => exhausted(limit),
      }, run),
    inferring: (row) => ({
      ...{ brake, money },
      paid: paidBy(row),
      exhausted: (limit) => parts.exhausted(row.pid, limit),
      ...summarizing(row),
    }),
    release(): void {
      opened.release();
      summarizer?.release();
      for (const each of looking) each.opened.release();
    },
  });
}
