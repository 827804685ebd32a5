/** A warm pool: processes that are started before they are needed. Used by children.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { PortHandler } from "../../../contracts/base/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { Child } from "./child.ts";
import type { StartQueue } from "./children.ts";

/** Milliseconds without a take before a missing spare is replaced: the child just taken needs the processor. */
const CALM = 60;
/** The same while at most one spare is left: the next taker would wait for a cold start. */
const PRESSING = 20;
/** Milliseconds without a take after which only `resting` spares stay, so that an idle kernel frees memory. */
const REST_MS = 60_000;

/** A started child without an owner; its handler is set when it is taken. */
interface Spare {
  readonly child: Child;
  adopt(handler: PortHandler): void;
}

/** A warm pool. */
export interface WorkerPool {
  /** A ready child, or a new one. */
  take(handler: PortHandler): Promise<Child>;
  close(): void;
}

/** A pool's size, timing and way to start a child. */
export interface PoolParts {
  readonly size: number;
  /** Spares that stay after a minute without a take; absent: none. */
  readonly resting?: number;
  readonly queue: StartQueue;
  readonly powers: Pick<Powers, "after">;
  /** `pooled`: the child is a spare, nobody waits for it. */
  start(handler: PortHandler, options: { readonly pooled: boolean }): Child;
  /** Prepares a spare. When this rejects with a fault, the spare is not kept. */
  readonly prepare?: ((child: Child) => Promise<void>) | undefined;
  /** Milliseconds without a take before a missing spare is replaced; absent: 20 to 60. */
  readonly calm?: number;
}

/** Makes a pool and starts to fill it, one child at a time and only while nothing else starts. */
export function makeWorkerPool(
  { size, resting = 0, queue, powers, start, prepare, calm }: PoolParts,
): WorkerPool {
  const ready: Spare[] = [];
  let filling = false;
  let closed = false;
  let target = size;
  let cancel = (): void => {};
  let cancelRest = (): void => {};

  const spare = async (pooled: boolean): Promise<Spare> => {
    let current = ORPHAN;
    const child = start({
      ask: (op, body) => current.ask(op, body),
      tell: (op, body) => current.tell(op, body),
    }, { pooled });
    await started(child);
    if (pooled) await prepare?.(child);
    return { child, adopt: (handler) => current = handler };
  };

  const fill = async (): Promise<void> => {
    if (closed || filling || ready.length >= target) return;
    if (!queue.idle()) return later();
    filling = true;
    try {
      const made = await queue.run(() => spare(true));
      // The pool may have been closed, or its target lowered, meanwhile.
      if (closed || ready.length >= target) return void made.child.kill();
      ready.push(made);
      void made.child.exited.then(() => {
        const at = ready.indexOf(made);
        if (at < 0) return;
        ready.splice(at, 1);
        later();
      });
    } catch (error) {
      // The next take starts its own child and reports the failure.
      if (!(error instanceof Fault)) throw error;
      return;
    } finally {
      filling = false;
    }
    void fill();
  };

  const wait = (): number => ready.length > 1 ? CALM : PRESSING;
  const later = (): void => {
    cancel();
    if (!closed) cancel = powers.after(calm ?? wait(), () => void fill());
  };

  const rest = (): void => {
    target = Math.min(size, resting);
    for (const { child } of ready.splice(target)) void child.kill();
  };
  /** One timer instead of polling: nothing wakes an idle kernel. */
  const wake = (): void => {
    cancelRest();
    target = size;
    cancelRest = powers.after(REST_MS, rest);
  };

  wake();
  void fill();
  return Object.freeze({
    async take(handler: PortHandler): Promise<Child> {
      if (closed) throw new Fault("gone", "Cannot take a worker: the kernel is closing");
      wake();
      const waiting = ready.shift();
      later();
      const { child, adopt } = waiting ?? await queue.run(() => spare(false));
      adopt(handler);
      return child;
    },
    close(): void {
      closed = true;
      cancel();
      cancelRest();
    },
  });
}

/**
 * Resolves once a child serves, which any answer proves, even a refusal. Rejects with `upstream`
 * and the end of its standard error when the child ends first.
 */
export async function started(child: Child): Promise<void> {
  try {
    await child.port.ask("ready", null);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // A refusal, whatever its code, is an answer; only a closed port means that the child ended.
    const open = Symbol();
    if (await Promise.race([child.port.closed, Promise.resolve(open)]) === open) return;
    throw new Fault("upstream", `Cannot start a ${child.role}: it ${await child.end()}`, {
      cause: error,
    });
  }
}

/** Answers a spare, which has no owner and holds nothing. */
const ORPHAN: PortHandler = Object.freeze<PortHandler>({
  ask(op: string): never {
    throw new Fault(
      "unknownCapability",
      `Cannot serve "${op.slice(0, 64)}": nothing was handed over`,
    );
  },
  tell: () => undefined,
});
