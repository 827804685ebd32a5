/**
 * The model that a process uses, and a due switch to another, by a rule or by a person. A switch is
 * a new capability, made between two inferences.
 *
 * Before each inference the session asks {@link ModelSwitch.due}. For a due switch it judges the
 * other model as if the process had started with it (policy by profile and label) and opens it.
 * Then it calls {@link ModelSwitch.made}, draws a new handle for the worker, releases the old model
 * and logs {@link modelChanged} before the request; or it calls {@link ModelSwitch.kept} where the
 * model may not or cannot be used, which is logged too, and the process keeps its model.
 * @module
 */
import type { ToolCall } from "../../../contracts/model/chat.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import type { FaultCode } from "../../../contracts/base/fault.ts";
import type { Pid } from "../../../contracts/authority/ids.ts";
import { isObject, type JsonObject } from "../../../contracts/base/json.ts";
import type { ModelInfo } from "../../../contracts/model/model.ts";
import type { ModelChoice } from "../../../contracts/task/task.ts";
import type { Outcome } from "../../../contracts/tool/tool.ts";

/** The reason of a switch. */
type SwitchReason = "escalated" | "person" | "label";

/** A switch to be made. */
export interface DueSwitch {
  readonly to: ModelChoice;
  readonly why: SwitchReason;
}

/** The model of one process. */
export interface ModelSwitch {
  /** The model in use. */
  current(): ModelChoice;
  /** Called with the calls of each answer. */
  proposed(calls: readonly ToolCall[]): void;
  /** Called with each call's outcome at the gate. */
  called(call: ToolCall, outcome: Outcome): void;
  /** Called with each failed inference. */
  failed(code: FaultCode): void;
  /** A person's choice (`/model NAME`), the newest counts, from the next inference on. */
  choose(to: ModelChoice): void;
  /** The switch to make before the next inference. */
  due(): DueSwitch | undefined;
  /** Called when the new model is in use. */
  made(due: DueSwitch): void;
  /** Called when the new model may not or cannot be used; it is not tried again. */
  kept(due: DueSwitch): void;
}

/** Makes the switch of a process that starts with `first`. */
export function makeModelSwitch(
  first: ModelChoice,
  rule: EscalationRule | undefined,
): ModelSwitch {
  let now = first;
  let chosen: ModelChoice | undefined;
  const escalation = makeEscalation(rule);

  const over = ({ to, why }: DueSwitch): void => {
    if (why === "escalated") escalation.end();
    else if (chosen === to) chosen = undefined;
  };
  return Object.freeze<ModelSwitch>({
    current: () => now,
    proposed: escalation.proposed,
    called: escalation.called,
    failed: escalation.failed,
    choose(to): void {
      chosen = to;
    },
    due(): DueSwitch | undefined {
      if (chosen !== undefined) return { to: chosen, why: "person" };
      return rule !== undefined && escalation.isDue()
        ? { to: rule.to, why: "escalated" }
        : undefined;
    },
    made(due): void {
      over(due);
      // The rule belongs to the first model: a model that a person chose stays.
      escalation.end();
      now = due.to;
    },
    kept: over,
  });
}

/**
 * The event of a switch, or with `refused` of one that was not made. References (which may name paths and hosts) and the
 * configuration are in the private part, from which a resumed task takes its model.
 */
export function modelChanged(
  pid: Pid,
  { due, from, to, refused }: {
    readonly due: DueSwitch;
    readonly from: Pick<ModelInfo, "id">;
    /** Absent where it was never opened. */
    readonly to?: Pick<ModelInfo, "id" | "backend">;
    /** Why the old model stayed: a rule's name or a fault's message. */
    readonly refused?: string;
  },
): NewEvent {
  return {
    kind: "modelChanged",
    body: {
      pid,
      from: from.id,
      ...(to === undefined ? {} : { to: to.id, backend: to.backend }),
      why: due.why,
      made: refused === undefined,
    },
    private: {
      model: { ref: due.to.ref, config: due.to.config },
      ...(refused === undefined ? {} : { refused }),
    },
  };
}

/**
 * The event of a model that a person chose while the task had no process. Whether it may be used is
 * judged before each inference.
 */
export function modelChosen({ ref, config }: ModelChoice): NewEvent {
  return {
    kind: "modelChanged",
    body: { why: "person", made: true },
    private: { model: { ref, config } },
  };
}

/** The model that a `modelChanged` event of a log switched to; undefined where no switch was made. */
export function switchedTo(
  body: JsonObject,
  secret: JsonObject | undefined,
): ModelChoice | undefined {
  const model = secret?.["model"];
  if (body["made"] !== true || !isObject(model)) return undefined;
  const { ref, config } = model;
  return typeof ref === "string" && typeof config === "string" ? { ref, config } : undefined;
}

// The rule `retry on NAME after N invalid calls`: counts the invalid calls of a process's model,
// and reports once when another model is due. Pure.

/** The rule as in remit.yaml (`TaskRequest.model.escalate`). */
export interface EscalationRule {
  /** Calls in a row that were invalid. */
  readonly after: number;
  readonly to: ModelChoice;
}

/** The count of one process's invalid calls. */
interface Escalation {
  /** Takes the calls of an answer: only these can count, each once. */
  proposed(calls: readonly ToolCall[]): void;
  /** Takes a call's outcome. Any outcome but `invalidArguments` and `unknownTool` resets the count. */
  called(call: ToolCall, outcome: Outcome): void;
  /** Takes a failed inference: `lowConfidence` counts as an invalid call, other codes do not count. */
  failed(code: FaultCode): void;
  /** Tells whether another model is due, until {@link Escalation.end}. */
  isDue(): boolean;
  /** Ends the rule after its switch was made or refused. */
  end(): void;
}

/** Outcomes caused by the model's own text; a refusal by policy or a tool's failure is not its fault. */
const INVALID: ReadonlySet<Outcome> = new Set<Outcome>(["invalidArguments", "unknownTool"]);

/** Makes the count of a process; without a rule nothing is ever due. */
export function makeEscalation(rule: Pick<EscalationRule, "after"> | undefined): Escalation {
  const open = new Map<string, string>();
  let inRow = 0;
  let over = rule === undefined;
  const wordsOf = ({ name, arguments: text }: ToolCall): string => `${name}\0${text}`;

  return Object.freeze({
    proposed(calls: readonly ToolCall[]): void {
      open.clear();
      for (const call of calls) open.set(call.id, wordsOf(call));
    },
    called(call: ToolCall, outcome: Outcome): void {
      // TRUST: calls come from the worker, which must not reach a dearer model by sending nonsense.
      if (open.get(call.id) !== wordsOf(call)) return;
      open.delete(call.id);
      inRow = INVALID.has(outcome) ? inRow + 1 : 0;
    },
    failed(code: FaultCode): void {
      if (code === "lowConfidence") inRow += 1;
    },
    isDue: () => !over && rule !== undefined && inRow >= rule.after,
    end(): void {
      over = true;
    },
  });
}
