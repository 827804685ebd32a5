/** Waiting for what has no event: a file, a state that another process shows. */

/** Only what hangs is not there by then, however busy the machine. */
const PATIENCE_MS = 600_000;
const LOOK_MS = 25;

/** Looks until `look` gives something, and gives it; throws with `what` when it never does. */
export async function waitUntil<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - start > PATIENCE_MS) throw new Error(`it never came: ${what}`);
    // TIMER: the state of another process has no event for this one.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
