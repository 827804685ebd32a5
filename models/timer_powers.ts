/** The clock of a model service: waiting, and nothing else. @module */
import { Fault } from "../contracts/base/fault.ts";

/** Waiting that a cancelled request ends. */
export interface Timer {
  /** Resolves after `ms` milliseconds; rejects with `cancelled` when `signal` aborts first. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** The real timer. */
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
