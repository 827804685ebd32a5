/**
 * The agent loop as a pure transition function. Its states: Idle, AssemblingRequest,
 * Inferring, ExecutingCalls. The driver does what an {@link Act} says and gives
 * back what came of it; nothing here waits, keeps or touches anything.
 * @module
 */
import type { ToolCall } from "../contracts/model/chat.ts";
import type { FaultCode } from "../contracts/base/fault.ts";
import type { FinishReason } from "../contracts/model/model.ts";
import type { Signal } from "../contracts/task/signal.ts";
import type { Outcome } from "../contracts/tool/tool.ts";
import type { TurnEnd } from "../contracts/wire/wire_worker.ts";

/** Why a turn ends. */
export type Stop = TurnEnd["stop"];

/** What a turn that is under way remembers between steps. */
interface Underway {
  /** Inferences begun for this user message. */
  readonly iteration: number;
  /** Set by a signal: the turn ends with this as soon as what is in flight has come back. */
  readonly stop: Stop | undefined;
}

/** Where the loop stands. */
export type LoopState =
  | { readonly kind: "idle" }
  | (Underway & { readonly kind: "assemblingRequest"; readonly squeezed: boolean })
  | (Underway & {
    readonly kind: "inferring";
    readonly squeezed: boolean;
    /** Tries of this inference that failed. */
    readonly failures: number;
  })
  | (Underway & {
    readonly kind: "executingCalls";
    readonly call: ToolCall;
    readonly rest: readonly ToolCall[];
    /** A person interrupted: the rest of the batch is not made. */
    readonly interrupted: boolean;
  });

/** What happened. */
export type LoopInput =
  /** A turn begins; `calls` are calls of a cut-off turn that nobody answered. */
  | { readonly kind: "turn"; readonly calls: readonly ToolCall[]; readonly complete: boolean }
  | { readonly kind: "assembled" }
  /** System message and last user message alone do not fit. */
  | { readonly kind: "overflowed" }
  | {
    readonly kind: "inferred";
    readonly calls: readonly ToolCall[];
    readonly finish: FinishReason;
  }
  /** A call was answered, also with a refusal: any outcome is fed back. */
  | { readonly kind: "answered"; readonly outcome: Outcome }
  /** `tried`: it was tried as often as makes sense. */
  | { readonly kind: "failed"; readonly code: FaultCode; readonly tried?: boolean }
  | { readonly kind: "told"; readonly signal: Signal };

/** What the driver does next. `skipped` calls are answered as cancelled first, unmade. */
export type Act =
  | {
    readonly kind: "assemble";
    readonly squeeze: boolean;
    readonly skipped: readonly ToolCall[];
  }
  | { readonly kind: "infer" }
  | { readonly kind: "call"; readonly call: ToolCall }
  | { readonly kind: "end"; readonly stop: Stop; readonly skipped: readonly ToolCall[] }
  /** The fault that was just seen ends the turn and crosses to the kernel. */
  | { readonly kind: "fail" }
  /** Something is still in flight. */
  | { readonly kind: "wait" };

/** A new state and what to do in it. */
export interface Step {
  readonly state: LoopState;
  readonly act: Act;
}

/** The bounds that the loop itself keeps. */
export interface LoopBounds {
  /** Most inferences for one user message. */
  readonly iterations: number;
  /** Most repetitions of one failed inference. */
  readonly retries: number;
}

/** Where every worker begins. */
export const IDLE: LoopState = Object.freeze({ kind: "idle" });

const RETRIED: ReadonlySet<FaultCode> = new Set(["rateLimited", "upstream", "timedOut"]);

/** How a signal ends a turn; absent: it does not. */
const CONCLUDES: Readonly<Partial<Record<Signal, Stop>>> = {
  SIGTERM: "terminated",
  SIGPIPE: "terminated",
  SIGXCPU: "budget",
  SIGBRAKE: "brake",
  SIGINT: "cancelled",
};

/**
 * Gives the next state and act.
 *
 * @throws TypeError when `input` cannot happen in `state`: a bug of the driver.
 */
export function step(state: LoopState, input: LoopInput, bounds: LoopBounds): Step {
  if (input.kind === "told") return { state: told(state, input.signal), act: { kind: "wait" } };
  switch (state.kind) {
    case "idle":
      if (input.kind !== "turn") break;
      if (input.complete) return end("answered");
      return executeOrAssemble(input.calls, { iteration: 0, stop: undefined }, bounds);
    case "assemblingRequest":
      if (input.kind === "overflowed") return end(state.stop ?? "contextOverflow");
      if (input.kind === "failed") return failed(state.stop, input.code);
      if (input.kind !== "assembled") break;
      if (state.stop !== undefined) return end(state.stop);
      return {
        state: { ...state, kind: "inferring", iteration: state.iteration + 1, failures: 0 },
        act: { kind: "infer" },
      };
    case "inferring":
      if (input.kind === "inferred") return inferred(state, input, bounds);
      if (input.kind === "failed") return inferenceFailed(state, input, bounds);
      break;
    case "executingCalls":
      if (input.kind === "failed") {
        return input.code === "budgetExhausted"
          ? end(state.stop ?? "budget", [state.call, ...state.rest])
          : failed(state.stop, input.code);
      }
      if (input.kind !== "answered") break;
      if (state.stop !== undefined) return end(state.stop, state.rest);
      if (state.interrupted || input.outcome === "cancelled") {
        return assemble(state, bounds, state.rest);
      }
      return executeOrAssemble(state.rest, state, bounds);
  }
  throw new TypeError(`Cannot step the loop: "${input.kind}" cannot happen in "${state.kind}"`);
}

function told(state: LoopState, signal: Signal): LoopState {
  const stop = CONCLUDES[signal];
  if (state.kind === "idle" || stop === undefined) return state;
  // An interrupted call is an outcome that is fed back: the model may go on, without the rest.
  if (signal === "SIGINT" && state.kind === "executingCalls") {
    return { ...state, interrupted: true };
  }
  return { ...state, stop: state.stop ?? stop };
}

function inferred(
  state: LoopState & { kind: "inferring" },
  { calls, finish }: LoopInput & { kind: "inferred" },
  bounds: LoopBounds,
): Step {
  if (state.stop !== undefined) {
    // An answer that came whole is an answer, unless a person wanted it no longer.
    const whole = calls.length === 0 && (finish === "stop" || finish === "toolCalls");
    return end(whole && state.stop !== "cancelled" ? "answered" : state.stop, calls);
  }
  switch (finish) {
    case "cancelled":
      return end("cancelled", calls);
    case "contentFilter":
      return end("upstream", calls);
    case "length":
      if (calls.length === 0) return end("length");
      break;
    case "paused":
      // The same conversation, with what came of the answer, is asked again.
      break;
    case "stop":
    case "toolCalls":
      if (calls.length === 0) return end("answered");
  }
  return executeOrAssemble(calls, state, bounds);
}

function inferenceFailed(
  state: LoopState & { kind: "inferring" },
  { code, tried = false }: LoopInput & { kind: "failed" },
  bounds: LoopBounds,
): Step {
  if (state.stop !== undefined) return end(state.stop);
  if (RETRIED.has(code) && !tried && state.failures < bounds.retries) {
    return { state: { ...state, failures: state.failures + 1 }, act: { kind: "infer" } };
  }
  if (code === "contextOverflow" || code === "tooLarge") {
    if (state.squeezed) return end("contextOverflow");
    return {
      // The try that did not fit is not an inference: it counts once, when it runs.
      state: {
        kind: "assemblingRequest",
        squeezed: true,
        iteration: state.iteration - 1,
        stop: state.stop,
      },
      act: { kind: "assemble", squeeze: true, skipped: [] },
    };
  }
  if (code === "upstream" || code === "timedOut") return end("upstream");
  return failed(undefined, code);
}

function failed(stop: Stop | undefined, code: FaultCode): Step {
  if (stop !== undefined) return end(stop);
  if (code === "cancelled") return end("cancelled");
  if (code === "budgetExhausted") return end("budget");
  return { state: IDLE, act: { kind: "fail" } };
}

function executeOrAssemble(
  calls: readonly ToolCall[],
  { iteration, stop }: Underway,
  bounds: LoopBounds,
): Step {
  const [call, ...rest] = calls;
  if (call === undefined) return assemble({ iteration, stop }, bounds, []);
  return {
    state: { kind: "executingCalls", iteration, stop, call, rest, interrupted: false },
    act: { kind: "call", call },
  };
}

function assemble(
  { iteration, stop }: Underway,
  bounds: LoopBounds,
  skipped: readonly ToolCall[],
): Step {
  if (iteration >= bounds.iterations) return end("iterations", skipped);
  return {
    state: { kind: "assemblingRequest", squeezed: false, iteration, stop },
    act: { kind: "assemble", squeeze: false, skipped },
  };
}

function end(stop: Stop, skipped: readonly ToolCall[] = []): Step {
  return { state: IDLE, act: { kind: "end", stop, skipped } };
}
