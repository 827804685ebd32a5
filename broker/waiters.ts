/** Who waits for a person, and what ends the wait. @module */
import {
  type Answered,
  atMoment,
  type Powers,
  type Question,
  type QuestionId,
} from "../contracts/mod.ts";

/** The waits of one kernel. */
export interface Waiters {
  /** Waits until the question is answered, expires, or `signal` ends the wait. */
  wait(question: Question, options: WaitOptions): Promise<Answered>;
  wake(question: QuestionId, answered: Answered): void;
}

/** How a wait ends without an answer. */
export interface WaitOptions {
  readonly signal: AbortSignal;
  /** Closes the question; wakes this wait. */
  end(state: "expired" | "lapsed"): Promise<void>;
}

/** Makes an empty table of waits. */
export function makeWaiters(powers: Pick<Powers, "now" | "after">): Waiters {
  const waiting = new Map<QuestionId, Set<(answered: Answered) => void>>();

  function wake(question: QuestionId, answered: Answered): void {
    const all = waiting.get(question);
    waiting.delete(question);
    for (const resolve of all ?? []) resolve(answered);
  }

  function wait(question: Question, options: WaitOptions): Promise<Answered> {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    const finish = (state: "expired" | "lapsed"): void => {
      options.end(state).catch(reject);
    };
    const lapse = (): void => finish("lapsed");
    const all = waiting.get(question.id) ?? new Set();
    waiting.set(question.id, all.add(resolve));
    if (options.signal.aborted) lapse();
    options.signal.addEventListener("abort", lapse, { once: true });
    const cancel = atMoment(powers, question.expiresAt, () => finish("expired"));
    return promise.finally(() => {
      cancel();
      options.signal.removeEventListener("abort", lapse);
    });
  }

  return Object.freeze({ wait, wake });
}
