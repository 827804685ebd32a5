/** Waiting for a moment of the clock, correct even if the machine sleeps meanwhile. @module */
import type { Powers } from "../task/process.ts";

/** Milliseconds between two looks at the clock: timers stand still while a machine sleeps. */
const LOOK_MS = 30_000;

/**
 * Calls `f` once `powers.now()` has reached `moment`, at most {@link LOOK_MS} late after a sleep.
 * Returns a function that cancels the wait.
 */
export function atMoment(
  powers: Pick<Powers, "now" | "after">,
  moment: number,
  f: () => void,
): () => void {
  let cancel = (): void => {};
  const wait = (): void => {
    const left = Math.max(0, moment - powers.now());
    cancel = powers.after(Math.min(left, LOOK_MS), () => {
      if (powers.now() >= moment) f();
      else wait();
    });
  };
  wait();
  return () => cancel();
}
