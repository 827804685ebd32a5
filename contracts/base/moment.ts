/** Waiting for a moment of the clock, also over a sleep of the machine. @module */
import type { Powers } from "../task/process.ts";

/** Milliseconds after which the clock is looked at again: timers stand still while a machine sleeps. */
const LOOK_MS = 30_000;

/**
 * Calls `f` once `powers.now()` has come to `moment`, at most {@link LOOK_MS} late where the clock leapt there.
 * What is returned ends the wait.
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
