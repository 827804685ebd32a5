/**
 * The model of one process: the first one, until a rule or a person switches it.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { ModelChoice } from "../../../contracts/task/mod.ts";
import {
  type DueSwitch,
  type EscalationRule,
  makeModelSwitch,
  modelChanged,
  type ModelSwitch,
} from "../../power/model/switch.ts";
import {
  governed,
  type GovernedModel,
  type GovernParts,
} from "../../power/model/governed_model.ts";
import type { ModelServices, OpenModel } from "../../power/model/services.ts";

/** A model as the policy sees it. */
export interface JudgedModel {
  readonly ref: string;
  readonly remote: boolean;
  readonly host?: string;
}

/** The first model, the escalation rule, and the services to switch to. */
export interface ProcessModelParts extends Omit<GovernParts, "modelRefused"> {
  readonly first: ModelChoice;
  /** The first model, opened; its opener releases it. */
  readonly opened: OpenModel;
  /** Absent where there is none, or where it was applied under an earlier kernel. */
  readonly rule?: EscalationRule | undefined;
  /** Replacements where the model may not be used: the first permitted one is taken. */
  readonly others?: readonly ModelChoice[] | undefined;
  readonly models: Pick<ModelServices, "provide">;
  /** Why the process may not use this model now; undefined where it may. */
  judge(model: JudgedModel): string | undefined;
}

/** The model of one process. */
export interface ProcessModel
  extends Pick<ModelSwitch, "current" | "proposed" | "called" | "failed" | "choose"> {
  /** The model in use; `info` and `plan` change with a switch. */
  readonly model: GovernedModel;
  /** Why the process may not use the model in use now. */
  refused(): string | undefined;
  /**
   * Makes a due switch before an inference. True after a switch: the worker's handle is void, and a new one must be drawn.
   * A switch that is refused or cannot be opened is logged, and the process keeps its model.
   *
   * @throws Fault `storeFull` when the switch cannot be recorded
   */
  switchIfDue(): Promise<boolean>;
  /** Releases the model that a switch opened. */
  release(): void;
}

/** Makes the model of a process. */
export function makeProcessModel(parts: ProcessModelParts): ProcessModel {
  const { row, models, log } = parts;
  const switching = makeModelSwitch(parts.first, parts.rule);
  let open = parts.opened;
  let releaseOther = (): void => undefined;
  const tries = new Set<string>();

  const refused = (): string | undefined => parts.judge(judgedModel(switching.current(), open));
  const govern = (): GovernedModel => governed(open, { ...parts, modelRefused: refused });
  let now = govern();

  const kept = async (due: DueSwitch, why: string): Promise<false> => {
    switching.kept(due);
    await log.append(row.task, [modelChanged(row.pid, { due, from: open.info, refused: why })]);
    return false;
  };

  const provide = async (due: DueSwitch): Promise<OpenModel | Fault> => {
    try {
      const other = await models.provide(due.to);
      const why = parts.judge(judgedModel(due.to, other));
      if (why === undefined) return other;
      other.release();
      return new Fault("refused", why);
    } catch (error) {
      if (error instanceof Fault) return error;
      throw error;
    }
  };

  return Object.freeze<ProcessModel>({
    current: switching.current,
    proposed: switching.proposed,
    called: switching.called,
    failed: switching.failed,
    choose: switching.choose,
    refused,
    model: Object.freeze<GovernedModel>({
      get info() {
        return now.info;
      },
      get plan() {
        return now.plan;
      },
      infer: (request, options) => now.infer(request, options),
      embed: (texts, signal, onEntered) => now.embed(texts, signal, onEntered),
    }),
    async switchIfDue(): Promise<boolean> {
      const due = switching.due();
      if (due !== undefined) return await make(due);
      if (refused() === undefined) return false;
      for (const to of parts.others ?? []) {
        const { ref } = switching.current(), tried = `${row.label} ${to.ref}`;
        // Each model is tried once per label: a refusal for a label does not change.
        if (to.ref === ref || tries.has(tried)) continue;
        tries.add(tried);
        if (await make({ to, why: "label" })) return true;
      }
      return false;
    },
    release(): void {
      releaseOther();
      releaseOther = () => undefined;
    },
  });

  /** Makes a switch; false where the process keeps its model. */
  async function make(due: DueSwitch): Promise<boolean> {
    const other = await provide(due);
    if (other instanceof Fault) return await kept(due, other.message);
    try {
      const event = modelChanged(row.pid, { due, from: open.info, to: other.info });
      await log.append(row.task, [event]);
    } catch (error) {
      other.release();
      throw error;
    }
    switching.made(due);
    releaseOther();
    releaseOther = other.release;
    open = other;
    now = govern();
    return true;
  }
}

/** A model as the policy judges it: its name, whether text leaves the machine, and to which host. */
export function judgedModel({ ref }: ModelChoice, { info, plan }: OpenModel): JudgedModel {
  return {
    ref,
    remote: info.remote,
    ...(plan.host === undefined ? {} : { host: plan.host }),
  };
}
