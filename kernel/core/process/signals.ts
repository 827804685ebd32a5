/**
 * The effect of each signal on a process, as a state machine without effects of its own: the
 * session executes the actions. Used by brake.ts and kernel/task/family.ts.
 * @module
 */
import { unreachable } from "../../../contracts/base/fault.ts";
import { EXIT } from "../../../contracts/base/fault_exit.ts";
import type { ExitCode } from "../../../contracts/base/mod.ts";
import type { Signal } from "../../../contracts/task/mod.ts";
import type { Limits } from "../../../contracts/task/mod.ts";

/** A process's state for signals: `braked` waits for a person, `stopped` for SIGCONT. */
export type SignalState = "running" | "stopped" | "braked" | "concluding" | "ended";

/** An action for the session. */
export type SignalAction =
  /** Tell the worker, which may ignore the signal. */
  | { readonly kind: "deliver"; readonly signal: Signal }
  /** Hold frames in both directions back, and freeze deadlines. */
  | { readonly kind: "hold" }
  /** Pass held frames on and resume deadlines. */
  | { readonly kind: "release" }
  /** Cancel the running inference or calls. */
  | { readonly kind: "interrupt" }
  /** Allow no new calls; end with `exit` unless a partial answer comes within `withinMs`. */
  | { readonly kind: "conclude"; readonly withinMs: number; readonly exit: ExitCode }
  /** Kill the process and its subtree at once. */
  | { readonly kind: "end"; readonly exit: ExitCode }
  /** Ask a person whether a process that spends too fast may go on. */
  | { readonly kind: "askBrake" }
  /** Advertise the tools again, because some are gone. */
  | { readonly kind: "readvertise" }
  /** Take the exit of a child that ended. */
  | { readonly kind: "reap" };

/** The next state, and the actions of the transition. */
export interface SignalStep {
  readonly next: SignalState;
  readonly actions: readonly SignalAction[];
}

/** Milliseconds that a process has to conclude. */
const CONCLUDE_MS = 5_000;

/** The step of a signal in a state. An ended process ignores signals. */
export function onSignal(state: SignalState, signal: Signal): SignalStep {
  if (state === "ended") return step("ended");
  const deliver: SignalAction = { kind: "deliver", signal };
  const held = state === "stopped" || state === "braked";
  switch (signal) {
    case "SIGKILL":
      return step("ended", { kind: "end", exit: EXIT.failure });
    case "SIGPIPE":
      return step("ended", { kind: "end", exit: EXIT.sigpipe });
    case "SIGTERM":
      return concluding(state, deliver, EXIT.failure);
    case "SIGXCPU":
      return concluding(state, deliver, EXIT.budgetExhausted);
    case "SIGINT":
      return step(state, { kind: "interrupt" });
    case "SIGSTOP":
      // INVARIANT: stopping a concluding process does not stop its deadline.
      if (state !== "running") return step(state);
      return step("stopped", { kind: "hold" });
    case "SIGCONT":
      // INVARIANT: only a person's answer releases the brake (test: "… SIGCONT …").
      if (state !== "stopped") return step(state);
      return step("running", { kind: "release" });
    case "SIGBRAKE":
      if (state === "braked" || state === "concluding") return step(state);
      return state === "stopped"
        ? step("braked", deliver, { kind: "askBrake" })
        : step("braked", { kind: "hold" }, deliver, { kind: "askBrake" });
    case "SIGCAPDROP":
      return step(state, deliver, { kind: "readvertise" });
    case "SIGCTXPRESSURE":
      return step(state, deliver);
    case "SIGCHLD":
      return held ? step(state, { kind: "reap" }) : step(state, { kind: "reap" }, deliver);
    default:
      return unreachable(signal);
  }
}

/** The step of a person's answer to the brake. */
export function onBrakeAnswer(state: SignalState, allowed: boolean): SignalStep {
  if (state !== "braked") return step(state);
  return allowed
    ? step("running", { kind: "release" })
    : step("ended", { kind: "end", exit: EXIT.budgetExhausted });
}

function concluding(state: SignalState, deliver: SignalAction, exit: ExitCode): SignalStep {
  if (state === "concluding") return step(state);
  const conclude: SignalAction = { kind: "conclude", withinMs: CONCLUDE_MS, exit };
  // A held process must hear the signal, and may still give a last answer.
  return state === "running"
    ? step("concluding", deliver, conclude)
    : step("concluding", { kind: "release" }, deliver, conclude);
}

function step(next: SignalState, ...actions: readonly SignalAction[]): SignalStep {
  return { next, actions };
}

/** A payment: US dollars at a moment. */
export interface Payment {
  readonly at: number;
  readonly money: number;
}

/** Milliseconds over which the velocity of spending is measured. */
const VELOCITY_WINDOW_MS = 60_000;

/** Payments that still count at `now`, oldest first. */
export function recent(payments: readonly Payment[], now: number): readonly Payment[] {
  return payments.filter(({ at }) => now - at < VELOCITY_WINDOW_MS);
}

/** Tells whether a process spends faster than it may: SIGBRAKE. */
export function spendsTooFast(
  payments: readonly Payment[],
  now: number,
  limits: Pick<Limits, "moneyPerMinute">,
): boolean {
  const spent = recent(payments, now).reduce((sum, { money }) => sum + money, 0);
  return spent > limits.moneyPerMinute;
}
