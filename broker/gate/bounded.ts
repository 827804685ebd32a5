/** A power's work, bounded by a deadline, by cancelling and by what is taken back. @module */
import { Fault, type PowerResult, type Powers } from "../../contracts/mod.ts";

/** How the work ended. */
export type Ran =
  | { readonly kind: "done"; readonly result: PowerResult }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "stopped"; readonly why: Fault };

/** What bounds the work. */
export interface Bounds {
  readonly powers: Pick<Powers, "after">;
  readonly signal: AbortSignal;
  /** Milliseconds; absent when the work keeps its deadline itself. */
  readonly deadlineMs?: number;
  /**
   * Milliseconds that work which was told to stop may take to say what it did. An effect that
   * happened after all is then recorded as what it is.
   */
  readonly graceMs: number;
  /** Hands out the function that stops the work from outside. */
  onStart(stop: (why: Fault) => void): void;
}

/** Runs `start` within bounds. Resolves in any case, and once. */
export function runBounded(
  start: (signal: AbortSignal) => Promise<PowerResult>,
  bounds: Bounds,
): Promise<Ran> {
  const { powers, signal } = bounds;
  const { promise, resolve } = Promise.withResolvers<Ran>();
  const controller = new AbortController();
  let stopped: Fault | undefined;
  let cancelGrace = (): void => {};

  const stop = (why: Fault): void => {
    if (stopped !== undefined) return;
    stopped = why;
    controller.abort(why);
    const give = (): void => resolve({ kind: "stopped", why });
    if (bounds.graceMs === 0) give();
    else cancelGrace = powers.after(bounds.graceMs, give);
  };
  const cancel = (): void => stop(new Fault("cancelled", "Cannot finish the call: cancelled"));
  const { deadlineMs } = bounds;
  const cancelDeadline = deadlineMs === undefined ? () => {} : powers.after(
    deadlineMs,
    () => stop(new Fault("timedOut", `Cannot finish the call in ${deadlineMs} ms`)),
  );
  signal.addEventListener("abort", cancel, { once: true });
  bounds.onStart(stop);
  if (signal.aborted) cancel();

  if (stopped === undefined) {
    // A power that throws at once is one that rejects.
    new Promise<PowerResult>((settle) => settle(start(controller.signal))).then(
      (result) => resolve({ kind: "done", result }),
      (error: unknown) =>
        resolve(
          stopped === undefined ? { kind: "failed", error } : { kind: "stopped", why: stopped },
        ),
    );
  } else resolve({ kind: "stopped", why: stopped });
  return promise.finally(() => {
    cancelDeadline();
    cancelGrace();
    signal.removeEventListener("abort", cancel);
  });
}
