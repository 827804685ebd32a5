/** Refusals in words, and what a fault means as an outcome. @module */
import { Fault, type FaultCode, type Outcome } from "../../contracts/mod.ts";
import type { Refusal } from "./parts.ts";

/** What becomes of a call that ended with a fault. */
export const OUTCOME_OF = {
  badFrame: "executionError",
  tooLarge: "executionError",
  invalidInput: "invalidArguments",
  invalidArguments: "invalidArguments",
  unknownTool: "unknownTool",
  unknownCapability: "refusedByPolicy",
  notFound: "executionError",
  alreadyExists: "executionError",
  refused: "refusedByPolicy",
  denied: "deniedByUser",
  stepUpFailed: "stepUpFailed",
  needsApproval: "refusedByPolicy",
  contaminated: "refusedByPolicy",
  clearance: "refusedByPolicy",
  leaseExpired: "refusedByPolicy",
  leaseRevoked: "refusedByPolicy",
  budgetExhausted: "refusedByPolicy",
  rateLimited: "refusedByPolicy",
  contextOverflow: "executionError",
  conflict: "executionError",
  cancelled: "cancelled",
  timedOut: "timedOut",
  upstream: "executionError",
  gone: "executionError",
  storeFull: "executionError",
  storeCorrupt: "executionError",
  unavailable: "executionError",
  lowConfidence: "executionError",
} as const satisfies Record<FaultCode, Outcome>;

/** A refusal by policy unless `more` says otherwise. */
export function refuse(
  step: Refusal["step"],
  why: string,
  more: { readonly code?: FaultCode; readonly outcome?: Outcome; readonly rule: string },
): Refusal {
  const code = more.code ?? "refused";
  const outcome = more.outcome ?? OUTCOME_OF[code];
  return { kind: "refuse", step, outcome, code, why, rule: more.rule };
}

/** A name that a model wrote, quoted and at most 64 characters. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
}

/** Runs `f`; its fault becomes the value. Anything else it throws is a bug and goes on. */
export function faultOf<T>(f: () => T): T | Fault {
  try {
    return f();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}
