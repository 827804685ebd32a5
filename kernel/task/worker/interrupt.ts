/**
 * Ctrl-C on its way to a worker. A press is never lost: one that comes before the worker has its turn
 * waits for it, and what the worker sent before it heard of a press counts as under way. @module
 */
import type { Port } from "../../../contracts/base/mod.ts";
import type { AgentSpec } from "../../../contracts/policy/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";

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

/** A gate that is open until it is closed. */
export interface Pause {
  /** Resolves at once while open, else when opened. */
  passed(): Promise<void> | undefined;
  close(): void;
  open(): void;
}

/** Makes an open pause. */
export function makePause(): Pause {
  let closed: Promise<void> | undefined;
  let release: (() => void) | undefined;
  return Object.freeze({
    passed: () => closed,
    close(): void {
      closed ??= new Promise((resolve) => release = resolve);
    },
    open(): void {
      release?.();
      closed = undefined;
      release = undefined;
    },
  });
}

interface HealthParts {
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
