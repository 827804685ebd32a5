/** One at a time, in the order in which they came. @module */
import { Fault } from "../../contracts/fault.ts";

/** Runs work in turn. */
export interface InTurn {
  /**
   * Runs `work` when all before it are done. Rejects with `cancelled` at once when the signal aborts,
   * also while it waits; the next one begins only when this work has really ended.
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Makes an empty queue. */
export function makeInTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return Object.freeze<InTurn>({
    run(work, signal) {
      const cancelled = (): Fault => new Fault("cancelled", "Cannot go on: cancelled");
      if (signal.aborted) return Promise.reject(cancelled());
      const { promise, resolve, reject } = Promise.withResolvers<
        Awaited<ReturnType<typeof work>>
      >();
      const abort = (): void => reject(cancelled());
      signal.addEventListener("abort", abort, { once: true });
      last = last.then(async () => {
        try {
          // Cancelled while it waited: nothing of it begins.
          if (!signal.aborted) resolve(await work());
        } catch (error) {
          reject(error);
        } finally {
          signal.removeEventListener("abort", abort);
        }
      });
      return promise;
    },
  });
}
