/** From faults to exit codes: one map for the command line and for tasks. @module */
import type { FaultCode } from "./fault.ts";
import { EXIT, type ExitCode } from "./signal.ts";

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
