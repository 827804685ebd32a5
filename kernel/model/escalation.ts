/**
 * The explicit rule `retry on NAME after N invalid calls`: counts what a process's model proposes, and
 * says once when it is time for another model. Pure.
 * @module
 */
import type { FaultCode, ModelChoice, Outcome, ToolCall } from "../../contracts/mod.ts";

/** As remit.yaml writes it (`TaskRequest.model.escalate`). */
export interface EscalationRule {
  /** Calls in a row that were not valid. */
  readonly after: number;
  readonly to: ModelChoice;
}

/** The count of one process. */
export interface Escalation {
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
