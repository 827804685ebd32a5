/**
 * Which model a process uses, and what it is to use next: because a rule says so, or a person. A
 * switch is a new capability, made between two inferences.
 *
 * Before each inference the session asks {@link ModelSwitch.due}. If something is due it judges the
 * other model as if the process had begun with it (policy by profile and label), opens it, and says
 * {@link ModelSwitch.made} — then it draws the worker's handle anew, gives the old model back and logs
 * {@link modelChanged} before the request leaves — or {@link ModelSwitch.kept} when it may not or
 * cannot, logged too: the process goes on with what it has.
 * @module
 */
import { isObject } from "../../contracts/json.ts";
import type {
  FaultCode,
  JsonObject,
  ModelChoice,
  ModelInfo,
  NewEvent,
  Outcome,
  Pid,
  ToolCall,
} from "../../contracts/mod.ts";
import { type EscalationRule, makeEscalation } from "./escalation.ts";

/** Why a process gets another model. */
export type SwitchReason = "escalated" | "person";

/** A switch that is to be made. */
export interface DueSwitch {
  readonly to: ModelChoice;
  readonly why: SwitchReason;
}

/** The model of one process. */
export interface ModelSwitch {
  /** What it uses now. */
  current(): ModelChoice;
  /** Of each answer of its model. */
  proposed(calls: readonly ToolCall[]): void;
  /** Of each call, when the gate has answered. */
  called(call: ToolCall, outcome: Outcome): void;
  /** Of each inference that failed. */
  failed(code: FaultCode): void;
  /** A person's choice (`/model NAME`), the newest counts: from the next inference on. */
  choose(to: ModelChoice): void;
  /** What is to be switched to before the next inference. */
  due(): DueSwitch | undefined;
  /** It is in use from now on. */
  made(due: DueSwitch): void;
  /** It may not or cannot be used, and is not tried again. */
  kept(due: DueSwitch): void;
}

/** Makes the switch of a process that begins with `first`. */
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
      // The rule was the first model's. Who chose another by hand does not mean it to be left.
      escalation.end();
      now = due.to;
    },
    kept: over,
  });
}

/**
 * The event of a switch, or with `refused` of one that was not made. References (which may name paths
 * and hosts) and the configuration lie in the private part, from which a resumed task takes its model.
 */
export function modelChanged(
  pid: Pid,
  { due, from, to, refused }: {
    readonly due: DueSwitch;
    readonly from: Pick<ModelInfo, "id">;
    /** Absent when it was never opened. */
    readonly to?: Pick<ModelInfo, "id" | "backend">;
    /** Why it stayed with the old one: a rule's name or a fault's message. */
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
 * The event of a model that a person chose while the task had no process: whether it may be used is
 * judged before each inference.
 */
export function modelChosen({ ref, config }: ModelChoice): NewEvent {
  return {
    kind: "modelChanged",
    body: { why: "person", made: true },
    private: { model: { ref, config } },
  };
}

/** The model that a `modelChanged` event of a log switched to; undefined when it stayed as it was. */
export function switchedTo(
  body: JsonObject,
  secret: JsonObject | undefined,
): ModelChoice | undefined {
  const model = secret?.["model"];
  if (body["made"] !== true || !isObject(model)) return undefined;
  const { ref, config } = model;
  return typeof ref === "string" && typeof config === "string" ? { ref, config } : undefined;
}
