/** Maps the end of a turn to the task's status and exit code. Used by runs.ts and agents/service.ts. @module */
import { EXIT, EXIT_OF_FAULT } from "../../contracts/base/fault_exit.ts";
import { type Fault, type FaultCode, unreachable } from "../../contracts/base/fault.ts";
import type { ReviewOutcome, TurnOutcome, UsedUp } from "../../contracts/task/hosting.ts";
import type { TaskStatus } from "../../contracts/task/task.ts";

/** A task's next status. */
export interface Ending {
  readonly status: TaskStatus;
  readonly exit?: number;
  readonly answer?: string;
  readonly reason?: string;
  /** Exit code of a failed turn after which the task still waits for the next message. */
  readonly failed?: number;
  /** Set if a person resumes a failed task. */
  readonly resumed?: true;
}

/** Faults after which nothing more can be written. */
const LAST: ReadonlySet<FaultCode> = new Set(["storeFull", "storeCorrupt"]);

/** The ending for a fault during a turn or its start. `outlives`: see {@link outlivesTurns}. */
export function endingOfFault({ code, message }: Fault, outlives: boolean): Ending {
  const failed: Ending = { status: "failed", exit: EXIT_OF_FAULT[code], reason: message };
  return outlives && !LAST.has(code) ? waiting(failed) : failed;
}

function waiting({ exit = EXIT.failure, ...rest }: Ending): Ending {
  return { ...rest, status: "open", failed: exit };
}

/** Ends of a turn after which another message, another model or a retry may help. */
const PASSING: ReadonlySet<TurnOutcome["stop"]> = new Set([
  ...["upstream", "length", "contextOverflow", "iterations"] as const,
]);

/** The part of a task that its ending depends on. */
export interface EndingTask {
  readonly interactive: boolean;
  readonly contaminated: boolean;
  /** See {@link outlivesTurns}; absent: false. */
  readonly outlives?: boolean;
}

/**
 * The status after a turn and its review. An interactive task stays `open` after a successful turn;
 * a person's own interactive task also after one whose model failed. `limit` names the exhausted
 * limit.
 */
export function endingOf(
  turn: TurnOutcome & UsedUp,
  review: ReviewOutcome,
  task: EndingTask,
): Ending {
  const ending = ownEnding(turn, review, task);
  const passes = PASSING.has(turn.stop) && turn.limit === undefined;
  return task.outlives === true && ending.status === "failed" && passes ? waiting(ending) : ending;
}

function ownEnding(
  turn: TurnOutcome & UsedUp,
  review: ReviewOutcome,
  task: EndingTask,
): Ending {
  const answer = turn.text;
  const waits = (question: string): Ending => ({
    status: "needsApproval",
    exit: EXIT.waiting,
    answer,
    reason: `question ${question} waits for a person`,
  });
  if (turn.stop === "waiting") return waits(turn.question);
  if (review.kind === "waiting") return waits(review.question);
  const silent = answer.trim() === "" ? { reason: "it ended without a word" } : {};
  const kept = review.kind === "kept"
    ? { reason: `staged changes were not applied: ${review.why}` }
    : silent;
  const failed = review.kind === "kept" && review.failed === true;
  switch (turn.stop) {
    case "answered":
      if (task.interactive) {
        return { status: "open", answer, ...kept, ...(failed ? { failed: EXIT.notApplied } : {}) };
      }
      return task.contaminated
        ? {
          status: "failed",
          exit: EXIT.contaminated,
          answer,
          reason: "a call was refused because of what had been read",
        }
        : failed
        ? { status: "failed", exit: EXIT.notApplied, answer, ...kept }
        : { status: "done", exit: EXIT.success, answer, ...kept };
    case "cancelled":
      return task.interactive
        ? { status: "open", answer }
        : { status: "cancelled", exit: EXIT.interrupted, answer, reason: "interrupted" };
    case "killed":
      if (turn.limit !== undefined && turn.exit === EXIT.budgetExhausted) {
        return {
          status: "failed",
          exit: turn.exit,
          reason: `its limit "${turn.limit}" is used up`,
        };
      }
      return { status: "cancelled", exit: turn.exit, reason: turn.text };
    case "terminated":
      return { status: "cancelled", exit: EXIT.failure, answer, reason: "ended by SIGTERM" };
    case "iterations":
    case "budget":
      return {
        status: "failed",
        exit: EXIT.budgetExhausted,
        answer,
        reason: turn.limit === undefined
          ? `its ${turn.stop} limit was reached`
          : `its limit "${turn.limit}" is used up`,
      };
    case "brake":
      return {
        status: "failed",
        exit: EXIT.budgetExhausted,
        answer,
        reason: "it spent too fast and nobody let it go on",
      };
    case "contextOverflow":
      return {
        status: "failed",
        exit: EXIT.contextOverflow,
        answer,
        reason: "the conversation no longer fits the model",
      };
    case "length":
      return {
        status: "failed",
        exit: EXIT.contextOverflow,
        answer,
        reason: "the model's answer was cut off",
      };
    case "upstream":
      // The error is not an answer and must not appear as one on standard output.
      return { status: "failed", exit: EXIT.upstreamFailure, reason: turn.text };
    default:
      return unreachable(turn);
  }
}

/** The end of an open task whose work is done. */
export function lastStatus(contaminated: boolean): Pick<Ending, "status"> & { exit: number } {
  return contaminated
    ? { status: "failed", exit: EXIT.contaminated }
    : { status: "done", exit: EXIT.success };
}
