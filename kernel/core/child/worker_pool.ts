/** Workers that are started before they are needed. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { PortHandler } from "../../../contracts/base/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { Child } from "./child.ts";
import type { StartQueue } from "./children.ts";

/** Milliseconds without a take before a missing one is replaced: what was taken wants the processor. */
const CALM = 60;
/** The same while at most one is left: whoever comes next would start one and wait for it. */
const PRESSING = 20;
/** Milliseconds without a take after which only `resting` stay: whoever works comes sooner, and memory is other people's. */
const REST_MS = 60_000;

/** A worker that nobody has yet: it is given its handler when it is taken. */
interface Spare {
  readonly child: Child;
  adopt(handler: PortHandler): void;
}

/** A warm pool. */
export interface WorkerPool {
  /** A ready worker, or one started now. */
  take(handler: PortHandler): Promise<Child>;
  close(): void;
}

/** What {@link makeWorkerPool} is handed. */
export interface PoolParts {
  readonly size: number;
  /** How many of them stay after a minute without a take; absent: none. */
  readonly resting?: number;
  readonly queue: StartQueue;
  readonly powers: Pick<Powers, "after">;
  /** `pooled`: nobody waits for it yet. */
  start(handler: PortHandler, options: { readonly pooled: boolean }): Child;
  /** Done with a child that waits in the pool. Rejects with a fault: then it is not kept. */
  readonly prepare?: ((child: Child) => Promise<void>) | undefined;
  /** Milliseconds without a take before a missing one is replaced; absent: 20 to 60. */
  readonly calm?: number;
}

/** Makes a pool and begins to fill it, one worker at a time and only while nothing else starts. */
export function makeWorkerPool(
  { size, resting = 0, queue, powers, start, prepare, calm }: PoolParts,
): WorkerPool {
  const ready: Spare[] = [];
  let filling = false;
  let closed = false;
  let most = size;
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
    if (closed || filling || ready.length >= most) return;
    if (!queue.idle()) return later();
    filling = true;
    try {
      const made = await queue.run(() => spare(true));
      // The pool may have been closed, or have gone to rest, meanwhile.
      if (closed || ready.length >= most) return void made.child.kill();
      ready.push(made);
      void made.child.exited.then(() => {
        const at = ready.indexOf(made);
        if (at < 0) return;
        ready.splice(at, 1);
        later();
      });
    } catch (error) {
      // The next take starts its own worker and reports why it cannot.
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
    most = Math.min(size, resting);
    for (const { child } of ready.splice(most)) void child.kill();
  };
  /** One timer, not a look now and then: a kernel at rest is not woken. */
  const wake = (): void => {
    cancelRest();
    most = size;
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
 * Resolves when a child serves: it answers anything, even with a refusal. A child that ends first
 * rejects with `upstream` and the end of its standard error.
 */
export async function started(child: Child): Promise<void> {
  try {
    await child.port.ask("ready", null);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // A refusal is an answer too, whatever its code: only a closed port means that it ended.
    const open = Symbol();
    if (await Promise.race([child.port.closed, Promise.resolve(open)]) === open) return;
    throw new Fault("upstream", `Cannot start a ${child.role}: it ${await child.end()}`, {
      cause: error,
    });
  }
}

/** Answers a worker that was not handed to anyone: it holds nothing. */
const ORPHAN: PortHandler = Object.freeze<PortHandler>({
  ask(op: string): never {
    throw new Fault(
      "unknownCapability",
      `Cannot serve "${op.slice(0, 64)}": nothing was handed over`,
    );
  },
  tell: () => undefined,
});
