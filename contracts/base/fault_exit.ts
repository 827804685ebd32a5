/** From faults to exit codes: one map for the command line and for tasks. @module */
import type { FaultCode } from "./fault.ts";

/** Exit codes of tasks and of the command line. */
export const EXIT = {
  success: 0,
  failure: 1,
  invalidInput: 2,
  refused: 64,
  contextOverflow: 65,
  budgetExhausted: 66,
  upstreamFailure: 67,
  lowConfidence: 68,
  contaminated: 69,
  leaseExpired: 70,
  rateLimited: 71,
  /** What was allowed, or would have been asked about, could not be applied to the folder. */
  notApplied: 72,
  /** Something waits for a person. */
  waiting: 75,
  /** Ended by the second Ctrl-C. */
  interrupted: 130,
  sigpipe: 141,
} as const;

/** One of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a command or task that a fault ended. */
export const EXIT_OF_FAULT: Readonly<Record<FaultCode, ExitCode>> = {
  badFrame: EXIT.upstreamFailure,
  tooLarge: EXIT.invalidInput,
  invalidInput: EXIT.invalidInput,
  invalidArguments: EXIT.invalidInput,
  unknownTool: EXIT.invalidInput,
  unknownCapability: EXIT.refused,
  notFound: EXIT.invalidInput,
  alreadyExists: EXIT.failure,
  refused: EXIT.refused,
  denied: EXIT.refused,
  stepUpFailed: EXIT.refused,
  needsApproval: EXIT.waiting,
  contaminated: EXIT.contaminated,
  clearance: EXIT.refused,
  leaseExpired: EXIT.leaseExpired,
  leaseRevoked: EXIT.leaseExpired,
  budgetExhausted: EXIT.budgetExhausted,
  rateLimited: EXIT.rateLimited,
  contextOverflow: EXIT.contextOverflow,
  conflict: EXIT.failure,
  cancelled: EXIT.interrupted,
  timedOut: EXIT.upstreamFailure,
  upstream: EXIT.upstreamFailure,
  gone: EXIT.upstreamFailure,
  storeFull: EXIT.failure,
  storeCorrupt: EXIT.failure,
  unavailable: EXIT.failure,
  lowConfidence: EXIT.lowConfidence,
};
