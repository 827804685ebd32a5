/** Whether a worker still answers while a turn of it is under way: an agent's `healthcheck`. @module */
import type { AgentSpec, Port, Powers } from "../../contracts/mod.ts";

/** What {@link watchHealth} is handed. */
export interface HealthParts {
  readonly powers: Pick<Powers, "after">;
  /** How often it is asked, how long it may take, and how many answers in a row may be missed, the last of them fatal. */
  readonly check: AgentSpec["healthcheck"];
  readonly worker: {
    readonly port: Pick<Port, "ask">;
    kill(): Promise<void>;
  };
}

/**
 * Asks a worker from now on whether it lives, where its agent has a check; what is returned stops that.
 * Any answer is a sign of life, a refusal too. One that misses them all is killed, once `sick` has the reason.
 */
export function watchHealth(
  { powers, check, worker }: HealthParts,
  sick: (why: string) => void,
): () => void {
  if (check === undefined) return () => {};
  const { intervalMs, timeoutMs, retries } = check;
  let missed = 0;
  let over = false;
  let disarm = (): void => {};

  const later = (): void => {
    if (!over) disarm = powers.after(intervalMs, look);
  };
  const look = (): void => {
    let answered = false;
    const heard = (): void => {
      if (answered || over) return;
      answered = true;
      missed = 0;
      disarm();
      later();
    };
    disarm = powers.after(timeoutMs, () => {
      answered = true;
      missed += 1;
      if (missed < retries) return later();
      over = true;
      const times = missed === 1 ? "once" : `${missed} times in a row`;
      sick(`the worker did not answer its health check within ${timeoutMs} ms, ${times}`);
      void worker.kill();
    });
    // One whose port is closed ends its turn without being found sick.
    worker.port.ask("ping", null).then(heard, heard);
  };

  later();
  return () => {
    over = true;
    disarm();
  };
}
