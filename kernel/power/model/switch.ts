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
import type { ToolCall } from "../../../contracts/model/chat.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import type { FaultCode } from "../../../contracts/base/fault.ts";
import type { Pid } from "../../../contracts/authority/ids.ts";
import { isObject, type JsonObject } from "../../../contracts/base/json.ts";
import type { ModelInfo } from "../../../contracts/model/model.ts";
import type { ModelChoice } from "../../../contracts/task/task.ts";
import type { Outcome } from "../../../contracts/tool/tool.ts";

/** Why a process gets another model. */
type SwitchReason = "escalated" | "person" | "label";

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
      // The rule was the first model's. Whoever chose another by hand does not mean it to be left.
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

// The explicit rule `retry on NAME after N invalid calls`: counts what a process's model proposes, and
// says once when it is time for another model. Pure.

/** As remit.yaml writes it (`TaskRequest.model.escalate`). */
export interface EscalationRule {
  /** Calls in a row that were not valid. */
  readonly after: number;
  readonly to: ModelChoice;
}

/** The count of one process. */
interface Escalation {
  /** What the model proposed in an answer: only these calls can count, each once. */
  proposed(calls: readonly ToolCall[]): void;
  /** What the gate said of a call. Everything but `invalidArguments` and `unknownTool` begins anew. */
  called(call: ToolCall, outcome: Outcome): void;
  /** An inference failed: `lowConfidence` counts as a call that was not valid, others do not count. */
  failed(code: FaultCode): void;
  /** Whether it is time. True until {@link Escalation.end}. */
  isDue(): boolean;
  /** It was heeded, or cannot be: the rule has had its turn. */
  end(): void;
}

/** What the model wrote does not fit; a refusal by policy or a tool's failure is not its fault. */
const INVALID: ReadonlySet<Outcome> = new Set<Outcome>(["invalidArguments", "unknownTool"]);

/** Makes the count of a process; without a rule it is never due. */
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
      // TRUST: calls come from the worker, which must not reach a dearer model by its own nonsense.
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
