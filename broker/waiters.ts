/** Who waits for a person, and what ends the wait. @module */
import type { Answered, Question, QuestionId } from "../contracts/mod.ts";

/** The waits of one kernel. */
export interface Waiters {
  /** Waits until somebody is told how the question ended, or `signal` ends the wait. */
  wait(question: Question, options: WaitOptions): Promise<Answered>;
  wake(question: QuestionId, answered: Answered): void;
}

/** How a wait is given up. */
export interface WaitOptions {
  readonly signal: AbortSignal;
  /** Closes the question; wakes this wait. */
  lapse(): Promise<void>;
}

/** Makes an empty table of waits. */
export function makeWaiters(): Waiters {
  const waiting = new Map<QuestionId, Set<(answered: Answered) => void>>();

  function wake(question: QuestionId, answered: Answered): void {
    const all = waiting.get(question);
    waiting.delete(question);
    for (const resolve of all ?? []) resolve(answered);
  }

  function wait(question: Question, options: WaitOptions): Promise<Answered> {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    const lapse = (): void => void options.lapse().catch(reject);
    const all = waiting.get(question.id) ?? new Set();
    waiting.set(question.id, all.add(resolve));
    if (options.signal.aborted) lapse();
    options.signal.addEventListener("abort", lapse, { once: true });
    return promise.finally(() => options.signal.removeEventListener("abort", lapse));
  }

  return Object.freeze({ wait, wake });
}
