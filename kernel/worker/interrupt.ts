/**
 * Ctrl-C on its way to a worker. A press is never lost: one that comes before the worker has its turn
 * waits for it, and what the worker sent before it heard of a press counts as under way. @module
 */
import type { Port } from "../../contracts/mod.ts";

/** The interrupts of one session. */
export interface Interrupt {
  /** A turn begins: presses of before it are forgotten. */
  turnBegins(): void;
  /** The worker was sent its turn; presses that waited follow it. */
  turnSent(port: Pick<Port, "ask">): void;
  turnOver(): void;
  press(): void;
  /** The worker says that it heard of one. Told and not answered: an answer is taken up after what follows it. */
  heard(): void;
  /** Whether what comes from the worker now was sent before it heard of a press. */
  unheard(): boolean;
}

/** Makes the interrupts of a session. */
export function makeInterrupt(): Interrupt {
  let worker: Pick<Port, "ask"> | undefined;
  let early = false;
  let unheard = 0;

  const send = (port: Pick<Port, "ask">): void => {
    unheard += 1;
    // A worker that ended hears nothing, and sends nothing either.
    port.ask("signal", { signal: "SIGINT" }).catch(heard);
  };
  const heard = (): void => {
    unheard = Math.max(0, unheard - 1);
  };

  return Object.freeze({
    turnBegins(): void {
      early = false;
    },
    turnSent(port: Pick<Port, "ask">): void {
      worker = port;
      if (early) send(port);
    },
    turnOver(): void {
      worker = undefined;
    },
    press(): void {
      if (worker === undefined) early = true;
      else send(worker);
    },
    heard,
    unheard: () => unheard > 0,
  });
}
