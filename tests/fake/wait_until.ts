/** Waits for a state without an event: a file, a state that another process shows. */

/** Long enough for any busy machine: only a hang takes longer. */
const PATIENCE_MS = 600_000;
const LOOK_MS = 25;

/** Calls `look` until it gives a value; throws with `what` when it never does. */
export async function waitUntil<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - start > PATIENCE_MS) throw new Error(`it never came: ${what}`);
    // TIMER: the state of another process gives this one no event.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
