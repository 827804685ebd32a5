/** The calls that are under way: each with its deadline, and with one way to end it. @module */
import { Fault } from "../../../contracts/base/fault.ts";

interface Underway {
  /** Aborts with the {@link Fault} that ends it. */
  readonly signal: AbortSignal;
}

/** See {@link makeCalls}. */
export interface Calls {
  /** Runs `work` as the call `id`. Faults: `timedOut` at the deadline, `cancelled`, what `work` throws. */
  run<T>(
    call: { readonly id: string; readonly deadlineMs: number; readonly verb: string },
    work: (underway: Underway) => Promise<T>,
  ): Promise<T>;
  cancel(id: string): void;
  /** Ends all of them. */
  endAll(fault: Fault): void;
  /** Whether one of the kernel's is under way; the bridge's own do not count. */
  busy(): boolean;
  /** The youngest of the kernel's: whose the server's question is taken to be. */
  latest(): string | undefined;
}

/** Ids of what the bridge does by itself; the kernel's are never these. */
export const OPENING = "\0open";
/** See {@link OPENING}. */
export const LISTING = "\0words";
const OWN: ReadonlySet<string> = new Set([OPENING, LISTING]);

/** Makes the table of calls. */
export function makeCalls(clock: Pick<Clock, "after">): Calls {
  const underway = new Map<string, AbortController>();
  const latest = (): string | undefined => [...underway.keys()].filter((id) => !OWN.has(id)).at(-1);
  return Object.freeze<Calls>({
    async run({ id, deadlineMs, verb }, work) {
      if (underway.has(id)) throw new Fault("conflict", `Cannot ${verb}: its id is in use`);
      const abort = new AbortController();
      underway.set(id, abort);
      const late = (): void =>
        abort.abort(new Fault("timedOut", `Cannot ${verb}: no answer within ${deadlineMs} ms`));
      const forget = clock.after(deadlineMs, late);
      try {
        return await untilAborted(work({ signal: abort.signal }), abort.signal);
      } finally {
        forget();
        underway.delete(id);
      }
    },
    cancel(id) {
      underway.get(id)?.abort(new Fault("cancelled", "Cannot finish the call: it was cancelled"));
    },
    endAll(fault) {
      for (const abort of underway.values()) abort.abort(fault);
    },
    busy: () => latest() !== undefined,
    latest,
  });
}

/** Ends with `work`, or when `signal` aborts: some of the SDK's waits do not hear it. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject);
  });
}

/** A steady clock. */
export interface Clock {
  /** Milliseconds since any moment. */
  now(): number;
  /** Runs `run` after `ms` milliseconds, unless the function that it returns is called before. */
  after(ms: number, run: () => void): () => void;
}
