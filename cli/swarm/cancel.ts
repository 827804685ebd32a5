/** The end of a swarm's task, at whichever kernel has it. @module */
import { Fault } from "../../contracts/base/mod.ts";

/** Times that a task which no kernel has is cancelled again, and the milliseconds between two. */
const TRIES = 20, AGAIN_MS = 500;

/**
 * Cancels a task. Between the moment at which a kernel of the fleet takes a task from the queue (`anywhere`) and the
 * task's first event nobody finds it: then it is cancelled again, since it would run to its limits otherwise.
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
      // The task ended by itself; or its kernel did, and the kernel that takes it over ends it within its limits.
      if (code === "conflict" || code === "timedOut") return;
      if (code !== "notFound") throw error;
      if (!anywhere || tries >= TRIES) return;
    }
    await rest(AGAIN_MS);
  }
}
