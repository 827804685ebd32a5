/** Signals and exit codes of tasks and commands. @module */
import * as z from "zod";

/** A signal that a process of Remit can be sent. */
export const Signal = z.enum([
  "SIGTERM",
  "SIGKILL",
  "SIGSTOP",
  "SIGCONT",
  "SIGPIPE",
  "SIGCTXPRESSURE",
  "SIGXCPU",
  "SIGBRAKE",
  "SIGCAPDROP",
  "SIGCHLD",
  "SIGINT",
]);
/** See {@link Signal}. */
export type Signal = z.infer<typeof Signal>;

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
