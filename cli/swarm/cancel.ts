/** Cancels a swarm's task at the kernel that has it. @module */
import { Fault } from "../../contracts/base/mod.ts";

/** How often the cancelling of an unfound task is repeated, and the milliseconds between. */
const TRIES = 20, AGAIN_MS = 500;

/**
 * Cancels a task. Between the moment at which a kernel of the fleet takes a task from the queue (`anywhere`) and the
 * task's first event no kernel finds it: cancelling is then repeated, since the task would run to its limits otherwise.
 *
 * @throws what `cancel` throws, but for a task that has ended or whose kernel is gone
 */
export async function cancelAt(
  cancel: () => Promise<unknown>,
  { anywhere, rest }: { readonly anywhere: boolean; rest(ms: number): Promise<void> },
): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      await cancel();
      return;
    } catch (error) {
      const code = error instanceof Fault ? error.code : undefined;
      // The task has ended; or its kernel has, and the kernel that takes over ends it within its limits.
      if (code === "conflict" || code === "timedOut") return;
      if (code !== "notFound") throw error;
      if (!anywhere || tries >= TRIES) return;
    }
    await rest(AGAIN_MS);
  }
}
