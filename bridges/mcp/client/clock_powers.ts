/** The real clock of a bridge. @module */
import type { Clock } from "./clock.ts";

/** See {@link Clock}. */
export const clock: Clock = Object.freeze<Clock>({
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
});
