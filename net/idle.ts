/** Notices that nothing moves. @module */
import type { Clock } from "./clock.ts";

/** A watch over one connection. */
export interface Idle {
  /** Something moved. */
  moved(): void;
  stop(): void;
}

/** Runs `late` once when nothing moved for `ms` milliseconds. */
export function watchIdle(clock: Clock, ms: number, late: () => void): Idle {
  let last = clock.now();
  let forget = clock.after(ms, look);
  function look(): void {
    const left = last + ms - clock.now();
    if (left <= 0) late();
    else forget = clock.after(left, look);
  }
  return Object.freeze<Idle>({
    moved(): void {
      last = clock.now();
    },
    stop: () => forget(),
  });
}
