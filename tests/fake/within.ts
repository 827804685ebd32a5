/** Waiting with an end: a test of something that does not come fails, instead of hanging. */

/** Only what hangs is not there by then, however busy the machine. */
const PATIENCE_MS = 600_000;

/** What `promise` gives; rejects with `what` when it gives nothing for ten minutes. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  // TIMER: the absence of an event is no event.
  const timer = setTimeout(() => late.reject(new Error(`it never came: ${what}`)), PATIENCE_MS);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
