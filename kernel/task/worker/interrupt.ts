/**
 * Ctrl-C on its way to a worker. No press is lost: a press before the worker has its turn waits for the turn, and requests
 * that the worker sent before it learnt of a press are cancelled like running work. Used by kernel/task/session/.
 * @module
 */
import type { Port } from "../../../contracts/base/mod.ts";
import type { AgentSpec } from "../../../contracts/policy/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";

/** The interrupts of one session. */
export interface Interrupt {
  /** A turn begins: earlier presses are forgotten. */
  turnBegins(): void;
  /** The turn was sent to the worker; waiting presses follow. */
  turnSent(port: Pick<Port, "ask">): void;
  turnOver(): void;
  press(): void;
  /** The worker learnt of a press. This is a notification, because an answer would be processed after later requests. */
  heard(): void;
  /** Tells whether a request arriving now was sent before the worker learnt of a press. */
  unheard(): boolean;
}

/** Makes the interrupts of a session. */
export function makeInterrupt(): Interrupt {
  let worker: Pick<Port, "ask"> | undefined;
  let early = false;
  let unheard = 0;

  const send = (port: Pick<Port, "ask">): void => {
    unheard += 1;
    // An ended worker cannot learn of a press, and sends nothing.
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
  /** Undefined while open, else resolves when opened. */
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
  /** Interval, timeout, and the number of missed answers in a row that is fatal. */
  readonly check: AgentSpec["healthcheck"];
  readonly worker: {
    readonly port: Pick<Port, "ask">;
    kill(): Promise<void>;
  };
}

/**
 * Starts a worker's health check, where its agent has one; returns the function that stops it. Any
 * answer is a sign of life, even a refusal. A worker that misses `retries` answers in a row is
 * killed after `sick` got the reason.
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
    // A closed port ends the turn by itself, without a failed check.
    worker.port.ask("ping", null).then(heard, heard);
  };

  later();
  return () => {
    over = true;
    disarm();
  };
}
