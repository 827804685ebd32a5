/**
 * Tool results as messages for the model. Untrusted text goes only into messages of role `tool`,
 * with its colour and label. Used by conversation.ts and standard.ts.
 * @module
 */
import type { ToolCall } from "../contracts/model/chat.ts";
import type { FaultCode } from "../contracts/base/fault.ts";
import type { Outcome, ToolResult } from "../contracts/tool/tool.ts";

export { resultMessage } from "../contracts/model/result_message.ts";

/** The outcome for the call that met a fault. A fault without an entry ends the turn. */
const OUTCOMES: Readonly<Partial<Record<FaultCode, Outcome>>> = {
  invalidInput: "invalidArguments",
  invalidArguments: "invalidArguments",
  tooLarge: "invalidArguments",
  unknownTool: "unknownTool",
  notFound: "executionError",
  alreadyExists: "executionError",
  refused: "refusedByPolicy",
  contaminated: "refusedByPolicy",
  clearance: "refusedByPolicy",
  leaseExpired: "refusedByPolicy",
  leaseRevoked: "refusedByPolicy",
  denied: "deniedByUser",
  stepUpFailed: "stepUpFailed",
  rateLimited: "executionError",
  conflict: "executionError",
  cancelled: "cancelled",
  timedOut: "timedOut",
  upstream: "executionError",
  unavailable: "executionError",
};

/**
 * Makes a result of a fault that met `call`. Undefined when the fault ends the turn
 * (`needsApproval`, `budgetExhausted`, a broken port, a full store).
 */
export function faultResult(
  call: ToolCall,
  fault: { readonly code: FaultCode; readonly message: string },
): ToolResult | undefined {
  const outcome = OUTCOMES[fault.code];
  return outcome === undefined ? undefined : refusal(call, outcome, fault.message);
}

/** Makes the result of a call that was never made. */
export function skippedResult(call: ToolCall): ToolResult {
  return refusal(call, "cancelled", "Cannot make this call: the turn was interrupted before it");
}

function refusal(call: ToolCall, outcome: Outcome, error: string): ToolResult {
  return {
    callId: call.id,
    outcome,
    content: "",
    error: error.slice(0, 8_192),
    // The kernel's own words, but they may quote what the model wrote.
    colour: "YELLOW",
    label: "internal",
  };
}
