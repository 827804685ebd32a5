/** The net service's real clock. @module */
import type { Clock } from "./clock.ts";

/** The real clock. */
export const clock: Clock = Object.freeze<Clock>({
  now: () => performance.now(),
  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
});
