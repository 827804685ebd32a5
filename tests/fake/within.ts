/** Waits with a limit: a test of an event that never comes fails, instead of hanging. */

/** Long enough for any busy machine: only a hang takes longer. */
const PATIENCE_MS = 600_000;

/** The value of `promise`; rejects with `what` when it does not settle within ten minutes. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  // TIMER: the absence of an event gives no event.
  const timer = setTimeout(() => late.reject(new Error(`it never came: ${what}`)), PATIENCE_MS);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
