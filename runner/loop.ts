/**
 * The agent loop as a pure transition function over the states idle, assemblingRequest, inferring
 * and executingCalls. The driver performs each {@link Act} and feeds back its outcome; this module
 * neither waits nor keeps state. Used by standard.ts.
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

/** What a turn in progress carries from step to step. */
interface Progress {
  /** Inferences begun for this user message. */
  readonly iteration: number;
  /** Set by a signal: why the turn ends once the pending act has returned. */
  readonly stop: Stop | undefined;
}

/** The state of the loop. */
export type LoopState =
  | { readonly kind: "idle" }
  | (Progress & { readonly kind: "assemblingRequest"; readonly squeezed: boolean })
  | (Progress & {
    readonly kind: "inferring";
    readonly squeezed: boolean;
    /** Failed attempts of this inference. */
    readonly failures: number;
  })
  | (Progress & {
    readonly kind: "executingCalls";
    readonly call: ToolCall;
    readonly rest: readonly ToolCall[];
    /** A person interrupted: the remaining calls of the batch are not made. */
    readonly interrupted: boolean;
  });

/** An event that the driver feeds into the loop. */
export type LoopInput =
  /** A turn begins. `calls`: unanswered calls of a turn that was cut off. */
  | { readonly kind: "turn"; readonly calls: readonly ToolCall[]; readonly complete: boolean }
  | { readonly kind: "assembled" }
  /** The system message and the last user message alone exceed the window. */
  | { readonly kind: "overflowed" }
  | {
    readonly kind: "inferred";
    readonly calls: readonly ToolCall[];
    readonly finish: FinishReason;
  }
  /** A call was answered. Every outcome, also a refusal, goes back to the model. */
  | { readonly kind: "answered"; readonly outcome: Outcome }
  /** `tried`: the kernel already retried as often as makes sense. */
  | { readonly kind: "failed"; readonly code: FaultCode; readonly tried?: boolean }
  | { readonly kind: "told"; readonly signal: Signal };

/** What the driver does next. `skipped` calls are first answered as cancelled, unmade. */
export type Act =
  | {
    readonly kind: "assemble";
    readonly squeeze: boolean;
    readonly skipped: readonly ToolCall[];
  }
  | { readonly kind: "infer" }
  | { readonly kind: "call"; readonly call: ToolCall }
  | { readonly kind: "end"; readonly stop: Stop; readonly skipped: readonly ToolCall[] }
  /** The turn ends with the fault just seen, which goes to the kernel. */
  | { readonly kind: "fail" }
  /** Something is still pending. */
  | { readonly kind: "wait" };

/** The next state, and what to do in it. */
export interface Step {
  readonly state: LoopState;
  readonly act: Act;
}

/** The limits that the loop itself enforces. */
export interface LoopBounds {
  /** Most inferences per user message. */
  readonly iterations: number;
  /** Most retries of one failed inference. */
  readonly retries: number;
}

/** The initial state of every worker. */
export const IDLE: LoopState = Object.freeze({ kind: "idle" });

const RETRYABLE: ReadonlySet<FaultCode> = new Set(["rateLimited", "upstream", "timedOut"]);

/** How each signal ends a turn; other signals do not end it. */
const CONCLUDES: Readonly<Partial<Record<Signal, Stop>>> = {
  SIGTERM: "terminated",
  SIGPIPE: "terminated",
  SIGXCPU: "budget",
  SIGBRAKE: "brake",
  SIGINT: "cancelled",
};

/**
 * Returns the next state and act.
 * @throws TypeError when `input` cannot happen in `state`, which is a bug of the driver
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
  // An interrupted call goes back to the model as an outcome: the model may continue, without the
  // rest of the batch.
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
    // A complete answer still counts, unless a person cancelled.
    const isComplete = calls.length === 0 && (finish === "stop" || finish === "toolCalls");
    return end(isComplete && state.stop !== "cancelled" ? "answered" : state.stop, calls);
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
      // Ask again with the conversation extended by the partial answer.
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
  if (RETRYABLE.has(code) && !tried && state.failures < bounds.retries) {
    return { state: { ...state, failures: state.failures + 1 }, act: { kind: "infer" } };
  }
  if (code === "contextOverflow" || code === "tooLarge") {
    if (state.squeezed) return end("contextOverflow");
    return {
      // The attempt that did not fit is not counted as an inference: the retry counts instead.
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
  { iteration, stop }: Progress,
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
  { iteration, stop }: Progress,
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
