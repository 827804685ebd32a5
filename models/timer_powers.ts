/** Timers of a model service. @module */
import { Fault } from "../contracts/base/fault.ts";

/** A wait that ends when its request is cancelled. */
export interface Timer {
  /** Resolves after `ms` milliseconds; rejects with `cancelled` when `signal` aborts first. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Timers of this process. */
export const timer: Timer = Object.freeze<Timer>({
  wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        clearTimeout(handle);
        reject(new Fault("cancelled", "Cannot go on with the inference: cancelled"));
      };
      const handle = setTimeout(() => {
        signal.removeEventListener("abort", cancel);
        resolve();
      }, ms);
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
    });
  },
});
